import { CardView } from './card-view.js';
import { cardPath } from './needs.js';
import { ReplyOf } from './reply-of.js';
import { html, useEffect, useState } from './view.js';

/** @import { Reply } from './api.js' */
/** @import { Model } from './model.js' */

/**
 * The card that callers get. It may be large, so it is read once for each digest.
 * @param {{ readonly agent: string, readonly digest: string | null, readonly model: Model }} props
 */
export function ServedCard({ agent, digest, model }) {
  const [reply, setReply] = useState(/** @type {Reply | undefined} */ (undefined));
  useEffect(() => {
    let isWanted = digest !== null;
    const read = async () => {
      const found = await model.look(cardPath(agent));
      if (isWanted) setReply(found);
    };
    if (isWanted) void read();
    return () => {
      isWanted = false;
    };
  }, [agent, digest]);
  if (digest === null)
    return html`<p class="dim">No card is held: the origin must answer first, or its first card be approved.</p>`;
  return html`<${ReplyOf} reply=${reply} show=${(/** @type {unknown} */ card) => html`<${CardView} card=${card} />`} />`;
}
