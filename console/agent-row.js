import { FreshnessBar, Since } from './freshness-bar.js';
import { linkTo } from './routes.js';
import { waitingCount } from './rows.js';
import { ReviewMark, StateMark, VerdictMark } from './state-mark.js';
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
    const { setback, verdict, reviewed } = agent;
    return html`<tr role="row">
      <th role="rowheader" scope="row"><a href=${linkTo({ view: 'agent', agent: agent.agent })}>${agent.agent}</a></th>
      <td role="cell"><${StateMark} state=${agent.state} /></td>
      <td role="cell"><${FreshnessBar} agent=${agent} ticker=${ticker} /></td>
      <td role="cell" data-label="Age"><${Since} at=${agent.lastSuccess} ticker=${ticker} /></td>
      <td role="cell" data-label="Signature" class=${verdict === null ? 'none' : ''}><${VerdictMark} verdict=${verdict} /></td>
      <td role="cell" data-label="Review" class=${reviewed === null && waitingCount(agent.pending) === 0 ? 'none' : ''}><${Review} agent=${agent} /></td>
      <td role="cell" data-label="Last error" class=${setback === null ? 'none' : ''}><${Setback} agent=${agent} ticker=${ticker} /></td>
    </tr>`;
  }
}

/** @param {{ readonly agent: Agent }} props */
function Review({ agent: { agent, pending, reviewed } }) {
  const count = waitingCount(pending);
  if (count === 0) return html`<${ReviewMark} reviewed=${reviewed} />`;
  return html`<div><a href=${linkTo({ view: 'change', agent })}>${count} ${count === 1 ? 'change waits' : 'changes wait'}</a>
    <div class="detail">${Object.keys(pending).join(', ')}</div></div>`;
}

/** @param {Props} props */
export function Setback({ agent: { setback }, ticker }) {
  if (setback === null) return html`<span class="dim">–</span>`;
  return html`<div>
    <div><strong class="code">${setback.code}</strong> <span class="dim"><${Since} at=${setback.at} ticker=${ticker} /> ago</span></div>
    <div class="detail"><${Text} value=${setback.detail} room=${240} /></div>
    <div class="remedy">${setback.remedy}</div>
  </div>`;
}
