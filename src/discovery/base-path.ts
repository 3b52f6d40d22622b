import type { Ask } from '../kernel/ask.ts';

/**
 * Says where an agent's base is here: what the target has before the operation's path; `''` for the root.
 * @param below the raw path under the agent's base URL.
 */
export function basePathOf({ target }: Pick<Ask, 'target'>, below: string): string {
  const path = target.replace(/\?.*$/, '');
  return path.slice(0, path.length - below.length).replace(/\/$/, '');
}
