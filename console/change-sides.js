import { CLASSES, CUES, byClass, comparable } from './change-words.js';
import { MarkedText } from './marked-text.js';
import { Text } from './stranger-text.js';
import { Component, html } from './view.js';
import { markWords } from './words.js';

/** @import { Change } from './shapes.ts' */
/** @import { Run } from './words.js' */

/**
 * Every change beside what was, class by class.
 * @param {{ readonly changes: readonly Change[] }} props
 */
export const ChangeSides = ({ changes }) =>
  byClass(changes).map(
    ([name, found]) => html`<section key=${name} class="class" aria-label=${`Changes of class ${name}`}>
      <h2><code>${name}</code> <span class="dim">${CLASSES.get(name) ?? ''}</span></h2>
      ${found.map((change, at) => html`<${OneChange} key=${at} change=${change} />`)}
    </section>`,
  );

/**
 * One change. Comparing long texts takes a while: it is done once for a change.
 * @extends {Component<{ readonly change: Change }>}
 */
class OneChange extends Component {
  /** @override @param {{ readonly change: Change }} next */
  shouldComponentUpdate(next) {
    return next.change !== this.props.change;
  }

  /** @override */
  render() {
    const { change } = this.props;
    const { before, after } = change;
    const [old, now] = sidesOf(change);
    return html`<div class="change" data-action=${change.action}>
      <div class="about"><code><${Text} value=${placeOf(change)} room=${200} /></code> ${notesOf(change)}</div>
      <div class="sides">
        <${Side} label="In force" value=${before} runs=${old} mark="del" none="not there" />
        <${Side} label="Offered" value=${after} runs=${now} mark="ins" none="gone" />
      </div>
    </div>`;
  }
}

/**
 * What is on one side alone has nothing to be marked against.
 * @param {Change} change
 * @returns {readonly [readonly Run[], readonly Run[]]}
 */
function sidesOf({ before, after }) {
  if (before !== undefined && after !== undefined) return markWords(comparable(before), comparable(after));
  const whole = (/** @type {unknown} */ value) => [{ text: comparable(value) ?? '', marked: false }];
  return [whole(before), whole(after)];
}

/** @param {{ readonly label: string, readonly value: unknown, readonly runs: readonly Run[], readonly mark: 'ins' | 'del', readonly none: string }} props */
const Side = ({
  label,
  value,
  runs,
  mark,
  none,
}) => html`<div class=${typeof value === 'string' ? 'side' : 'side code-like'}>
  <h3>${label}</h3>
  ${value === undefined ? html`<p class="dim">${none}</p>` : html`<${MarkedText} runs=${runs} mark=${mark} />`}
</div>`;

/** @param {Change} change */
function placeOf({ of, pointer, oldPointer, after }) {
  if (of === 'card-url') return 'the URL of the card';
  return after === undefined ? oldPointer : pointer;
}

/** @param {Change} change */
function notesOf({ action, before, after, effect, required, resembles, cues }) {
  return html`<span class="notes">
    <span class="note" data-action=${action}>${ACTIONS[action]}</span>
    ${before === undefined && html`<span class="note">added</span>`}
    ${after === undefined && html`<span class="note">removed</span>`}
    ${effect === 'widens' && html`<span class="note warn">widens</span>`}
    ${effect === 'narrows' && html`<span class="note">narrows</span>`}
    ${required === true && html`<span class="note warn">clients must honour it</span>`}
    ${
      resembles !== undefined &&
      html`<span class="note warn">${resembles.why === 'renamed' ? 'the same as' : 'its id reads like'} <${Text} value=${resembles.id} room=${80} /></span>`
    }
    ${cues.map((cue) => html`<span key=${cue} class="note cue" title="The new text has such a word, and the old one had none">${cue}: ${CUES[cue] ?? ''}</span>`)}
  </span>`;
}

/** @type {Readonly<Record<Change['action'], string>>} */
const ACTIONS = { allow: 'allowed by the rule', report: 'reported', hold: 'held', block: 'blocked by the rule' };
