import { FAULT_CODES, fault } from '../../src/kernel/faults.ts';

const INTRODUCTION = `# Problems

Generated from \`src/kernel/faults.ts\` by \`node scripts/generate.ts\`.

Every refusal is \`application/problem+json\` (RFC 9457) with \`type\` \`/problems/CODE\`, \`code\`, \`status\`, \`title\` and a \`detail\` that says
what to change, and where. A running Cardea explains each one at \`GET /problems/CODE\`. Where an origin was involved, \`Proxy-Status\`
(RFC 9209) carries the error type.
`;

/** Makes the reference of every way in which Cardea says no. */
export function problemsPage(): string {
  return `${INTRODUCTION}\n${FAULT_CODES.map(section).join('\n')}`;
}

function section(code: (typeof FAULT_CODES)[number]): string {
  const { status, title, meaning, mend, retry, proxyError, a2a } = fault(code);
  const facts = [
    `status ${status}`,
    retry ? 'may pass by itself' : 'stays until something is changed',
    ...(proxyError === undefined ? [] : [`Proxy-Status \`${proxyError}\``]),
    ...(a2a === undefined ? [] : [`A2A ${a2a.jsonRpc} \`${a2a.reason}\``]),
  ];
  return `## \`${code}\`\n\n**${title}** · ${facts.join(' · ')}\n\n${meaning} ${mend}\n`;
}
