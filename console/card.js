/**
 * A card as a person reads it, of any version of A2A. It is somebody else's JSON: what is not of the form that is expected is shown
 * as the JSON that it is, or is left to the JSON view.
 */

/** @typedef {Readonly<Record<string, unknown>>} JsonObject */
/** @typedef {{ readonly label: string, readonly text: string }} Fact */
/** @typedef {{ readonly url: string, readonly binding: string, readonly version: string, readonly tenant: string }} Interface */
/** @typedef {{ readonly name: string, readonly id: string, readonly description: string, readonly tags: readonly string[], readonly examples: readonly string[], readonly facts: readonly Fact[] }} Skill */
/** @typedef {{ readonly name: string, readonly description: string, readonly facts: readonly Fact[], readonly interfaces: readonly Interface[], readonly capabilities: readonly string[], readonly schemes: readonly Fact[], readonly requirements: readonly string[], readonly skills: readonly Skill[], readonly signatures: number }} ReadCard */

/**
 * Reads a card for people.
 * @param {unknown} value
 * @returns {ReadCard}
 */
export function readCard(value) {
  const card = objectOf(value);
  const signatures = listOf(card['signatures']).length;
  return {
    name: textOf(card['name']),
    description: textOf(card['description']),
    facts: factsOf(card),
    interfaces: interfacesOf(card),
    capabilities: capabilitiesOf(card),
    schemes: Object.entries(objectOf(card['securitySchemes'])).map(([label, scheme]) => ({
      label,
      text: schemeText(scheme),
    })),
    requirements: listOf(card['securityRequirements'] ?? card['security']).map(requirementText),
    skills: listOf(card['skills']).map(skillOf),
    signatures,
  };
}

/** @param {JsonObject} card */
function factsOf(card) {
  const provider = objectOf(card['provider']);
  return present([
    ['Provider', textOf(provider['organization'] ?? provider['name'])],
    ['Provider’s site', textOf(provider['url'])],
    ['Version', textOf(card['version'])],
    ['Documentation', textOf(card['documentationUrl'])],
    ['Takes', wordsOf(card['defaultInputModes'])],
    ['Gives', wordsOf(card['defaultOutputModes'])],
  ]);
}

/** A2A 1.0 lists them all; before, the first stood beside the list. @param {JsonObject} card @returns {readonly Interface[]} */
function interfacesOf(card) {
  const listed = listOf(card['supportedInterfaces'] ?? card['additionalInterfaces']).map(interfaceOf);
  if (card['supportedInterfaces'] !== undefined || card['url'] === undefined) return listed;
  const own = {
    url: card['url'],
    transport: card['preferredTransport'] ?? 'JSONRPC',
    protocolVersion: card['protocolVersion'],
  };
  const first = interfaceOf(own);
  return [first, ...listed.filter(({ url, binding }) => url !== first.url || binding !== first.binding)];
}

/** @param {unknown} value @returns {Interface} */
function interfaceOf(value) {
  const one = objectOf(value);
  return {
    url: textOf(one['url']),
    binding: textOf(one['protocolBinding'] ?? one['transport']),
    version: textOf(one['protocolVersion']),
    tenant: textOf(one['tenant']),
  };
}

/** @param {JsonObject} card @returns {readonly string[]} */
function capabilitiesOf(card) {
  const capabilities = objectOf(card['capabilities']);
  const named = Object.entries(capabilities).filter(([, value]) => value === true);
  const extensions = listOf(capabilities['extensions']).map((each) => {
    const extension = objectOf(each);
    return `extension ${textOf(extension['uri'])}${extension['required'] === true ? ' (required)' : ''}`;
  });
  const older = card['supportsAuthenticatedExtendedCard'] === true ? ['extendedAgentCard'] : [];
  return [...new Set([...named.map(([name]) => name), ...older, ...extensions])];
}

/** Members of a scheme that say something, in the order in which they are told. */
const SCHEME_MEMBERS = ['scheme', 'bearerFormat', 'location', 'in', 'name', 'openIdConnectUrl', 'oauth2MetadataUrl'];

/** @param {unknown} value */
function schemeText(value) {
  const whole = objectOf(value);
  const [wrapper, inner] = Object.entries(whole).find(([name]) => /SecurityScheme$|_security_scheme$/.test(name)) ?? [];
  const scheme = wrapper === undefined ? whole : objectOf(inner);
  const kind = wrapper === undefined ? textOf(whole['type']) : wrapper.replace(/SecurityScheme$|_security_scheme$/, '');
  const told = SCHEME_MEMBERS.map((name) => textOf(scheme[name])).filter((text) => text !== '');
  const flows = Object.keys(objectOf(scheme['flows']));
  return [kind || 'of no kind that A2A knows', ...told, ...flows, textOf(scheme['description'])]
    .filter((text) => text !== '')
    .join(' · ');
}

/** One alternative: all of its schemes together. @param {unknown} value */
function requirementText(value) {
  const one = objectOf(value);
  const schemes = Object.entries(objectOf(one['schemes'] ?? one));
  if (schemes.length === 0) return 'nothing';
  return schemes
    .map(([name, scopes]) => {
      const listed = wordsOf(Array.isArray(scopes) ? scopes : objectOf(scopes)['list']);
      return listed === '' ? name : `${name} (${listed})`;
    })
    .join(' and ');
}

/** @param {unknown} value @returns {Skill} */
function skillOf(value) {
  const skill = objectOf(value);
  return {
    name: textOf(skill['name']),
    id: textOf(skill['id']),
    description: textOf(skill['description']),
    tags: listOf(skill['tags']).map(textOf),
    examples: listOf(skill['examples']).map(textOf),
    facts: present([
      ['Takes', wordsOf(skill['inputModes'])],
      ['Gives', wordsOf(skill['outputModes'])],
      [
        'Asks for',
        listOf(skill['securityRequirements'] ?? skill['security'])
          .map(requirementText)
          .join(' or '),
      ],
    ]),
  };
}

/** @param {readonly (readonly [label: string, text: string])[]} facts @returns {readonly Fact[]} */
const present = (facts) => facts.flatMap(([label, text]) => (text === '' ? [] : [{ label, text }]));

/** @param {unknown} value @returns {JsonObject} */
const objectOf = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? /** @type {JsonObject} */ (value) : {};

/** @param {unknown} value @returns {readonly unknown[]} */
const listOf = (value) => (Array.isArray(value) ? value : []);

/** @param {unknown} value */
const textOf = (value) =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

/** @param {unknown} value */
const wordsOf = (value) => listOf(value).map(textOf).join(', ');
