import { FreshnessBar, Since } from './freshness-bar.js';
import { linkTo } from './routes.js';
import { waitingCount } from './rows.js';
import { StateMark, VerdictMark } from './state-mark.js';
import { Text } from './stranger-text.js';
import { Component, html } from './view.js';

/** @import { Agent } from './shapes.ts' */
/** @import { Ticker } from './ticker.js' */

/** @typedef {{ readonly agent: Agent, readonly ticker: Ticker }} Props */

/**
 * One agent. It is drawn again when the daemon says something else of it, and for nothing else.
 * @extends {Component<Props>}
 */
export class AgentRow extends Component {
  /** @override @param {Props} next */
  shouldComponentUpdate(next) {
    return next.agent !== this.props.agent;
  }

  /** @override */
  render() {
    const { agent, ticker } = this.props;
    const { setback, signature } = agent;
    const count = waitingCount(agent.pending);
    return html`<tr role="row">
      <th role="rowheader" scope="row"><a href=${linkTo({ view: 'agent', agent: agent.agent })}>${agent.agent}</a></th>
      <td role="cell"><${StateMark} state=${agent.state} /></td>
      <td role="cell"><${FreshnessBar} agent=${agent} ticker=${ticker} /></td>
      <td role="cell" data-label="Age"><${Since} at=${agent.lastSuccess} ticker=${ticker} /></td>
      <td role="cell" data-label="Signature" class=${signature === null ? 'none' : ''}><${VerdictMark} verdict=${signature} /></td>
      <td role="cell" data-label="Review" class=${count === 0 ? 'none' : ''}><${Review} agent=${agent} count=${count} /></td>
      <td role="cell" data-label="Last error" class=${setback === null ? 'none' : ''}><${Setback} agent=${agent} ticker=${ticker} /></td>
    </tr>`;
  }
}

/** @param {{ readonly agent: Agent, readonly count: number }} props */
function Review({ agent: { agent, pending }, count }) {
  if (count === 0) return html`<span class="dim">–</span>`;
  const classes = Object.keys(pending).join(', ');
  return html`<div><a href=${linkTo({ view: 'change', agent })}>${count} ${count === 1 ? 'change' : 'changes'}</a> <span class="dim">${classes}</span></div>`;
}

/** @param {Props} props */
export function Setback({ agent: { setback }, ticker }) {
  if (setback === null) return html`<span class="dim">–</span>`;
  return html`<div>
    <div><strong class="code">${setback.code}</strong> <span class="dim"><${Since} at=${setback.at} ticker=${ticker} /> ago</span></div>
    <div class="detail"><${Text} value=${setback.detail} room=${240} /></div>
  </div>`;
}
