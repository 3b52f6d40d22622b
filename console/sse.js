/** Server-sent events out of a stream of text (HTML, "Server-sent events", 9.2.6), as far as the daemon writes them. */

/** @typedef {{ readonly name: string, readonly data: string }} ServerEvent */

/** An event is a receipt or a notice. A stream that never ends one must not fill the memory. */
const LONGEST = 1_048_576;

/** Makes a reader: give it the text as it comes, and it gives the events that are complete. */
export function createEventReader() {
  let rest = '';
  return {
    /** @param {string} text @returns {readonly ServerEvent[]} */
    read(text) {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop() ?? '';
      if (rest.length > LONGEST) rest = '';
      return blocks.flatMap(eventOf);
    },
  };
}

/** @param {string} block @returns {readonly ServerEvent[]} */
function eventOf(block) {
  const lines = block.split('\n');
  const of = (/** @type {string} */ field) =>
    lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2));
  const [name] = of('event');
  return name === undefined ? [] : [{ name, data: of('data').join('\n') }];
}
