/** Cards that are like real ones: their size comes from the number of skills. */

const VERBS = [
  'Summarise',
  'Translate',
  'Classify',
  'Extract',
  'Compare',
  'Plan',
  'Book',
  'Validate',
  'Route',
  'Forecast',
];
const NOUNS = ['invoices', 'contracts', 'support tickets', 'itineraries', 'medical notes', 'source code', 'minutes'];

/** A card of at least so many bytes; two of different names differ. */
export function cardOf(name: string, url: string, size: number): Record<string, unknown> {
  const skills: unknown[] = [];
  const card = {
    name,
    description: 'Answers questions about documents and turns them into structured records.',
    version: '1.0.0',
    provider: { organization: 'Example Systems', url: 'https://www.example.com' },
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills,
  };
  for (let length = JSON.stringify(card).length; length < size || skills.length === 0; ) {
    const skill = skillOf(skills.length);
    skills.push(skill);
    length += JSON.stringify(skill).length + 1;
  }
  return card;
}

function skillOf(at: number): Record<string, unknown> {
  const [verb = '', noun = ''] = [VERBS[at % VERBS.length], NOUNS[(at * 3) % NOUNS.length]];
  return {
    id: `skill-${at}`,
    name: `${verb} ${noun}`,
    description: `${verb} ${noun} and return a record with a confidence for each field.`,
    tags: [verb.toLowerCase(), 'documents'],
    examples: [`${verb} the attached ${noun}.`, `${verb} ${noun} of the last 30 days as JSON.`],
  };
}
