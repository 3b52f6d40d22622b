import type { CardRule } from '../kernel/card-rule.ts';
import { accepted, type Outcome, refuse, refused } from '../kernel/refusal.ts';
import type { JsonObject } from './json.ts';
import { quote } from './json.ts';
import type { Finding } from './schema/validate.ts';
import { describeFinding, validateCard } from './schema/validate.ts';
import type { CardVersion } from './version.ts';
import { tableOf, wrapperOf } from './version.ts';

/** A problem's detail names this many members; the rest are counted. */
const NAMED = 5;

/**
 * Holds a card against its table at the level that the rule sets. Gives the warnings: what `strict` would refuse. `compatible` takes
 * what at least one official SDK reads without error and without guessing; `off` takes any object that says where the agent is.
 */
export function checkSchema(
  card: JsonObject,
  version: CardVersion,
  rule: Pick<CardRule, 'schema'>,
): Outcome<readonly string[]> {
  const findings = validateCard(card, tableOf(version));
  const errors = findings.filter((finding) => isError(finding, rule.schema));
  const [first] = errors;
  if (first === undefined) return accepted(findings.map(describeFinding));
  const named = errors.slice(0, NAMED).map(describeFinding).join('. ');
  const more = errors.length > NAMED ? ` And ${errors.length - NAMED} more.` : '';
  return refused(refuse(first.code, `${named}.${more}${wrappedHint(card)}`));
}

function isError(finding: Finding, level: CardRule['schema']): boolean {
  switch (level) {
    case 'strict':
      return true;
    case 'compatible':
      return finding.refusedBy === 'compatible';
    case 'off':
      return false;
  }
}

function wrappedHint(card: JsonObject): string {
  const wrapper = wrapperOf(card);
  return wrapper === undefined ? '' : ` The member ${quote(wrapper)} looks like the card; serve it by itself.`;
}
