import { EXTENSION, SIGNATURE } from './a2a-1.0.ts';
import type { Member, Message } from './table.ts';
import { BOOLEAN, list, message, REQUIREMENTS, row, SCHEMES, STRING, STRINGS, TEXTS } from './table.ts';

/** A2A 0.3 (its JSON Schema) and what 0.2 had besides. */

const INTERFACE: Message = {
  name: 'AgentInterface',
  members: [
    row('url', STRING, 'endpoint', { required: true, vital: true }),
    row('transport', STRING, 'protocol', { required: true, vital: true }),
  ],
};

const PROVIDER: Message = {
  name: 'AgentProvider',
  members: [
    row('organization', STRING, 'identity', { required: true }),
    row('url', STRING, 'identity', { required: true }),
  ],
};

const CAPABILITIES: Message = {
  name: 'AgentCapabilities',
  members: [
    row('streaming', BOOLEAN, 'capability'),
    row('pushNotifications', BOOLEAN, 'capability'),
    row('stateTransitionHistory', BOOLEAN, 'capability'),
    row('extensions', list(EXTENSION), 'extension'),
  ],
};

const SKILL: Message = {
  name: 'AgentSkill',
  members: [
    row('id', STRING, 'skill-text', { required: true }),
    row('name', STRING, 'skill-text', { required: true }),
    row('description', STRING, 'skill-text', { required: true }),
    row('tags', STRINGS, 'skill-text', { required: true }),
    row('examples', STRINGS, 'skill-text'),
    row('inputModes', STRINGS, 'skill-io'),
    row('outputModes', STRINGS, 'skill-io'),
    row('security', REQUIREMENTS, 'security'),
  ],
};

/** 0.1 and 0.2.0: what came before security schemes. */
export const AUTHENTICATION: Message = {
  name: 'AgentAuthentication',
  members: [row('schemes', STRINGS, 'security', { required: true }), row('credentials', STRING, 'security')],
};

/** What a 0.x card says at its root and 1.0 says elsewhere; SDK servers add these to 1.0 cards for older clients. */
export const LEGACY_ROOT: readonly Member[] = [
  row('url', STRING, 'endpoint', { required: true, vital: true }),
  row('preferredTransport', STRING, 'protocol', { absent: 'JSONRPC' }),
  row('protocolVersion', STRING, 'protocol', { required: true, absent: '0.3.0' }),
  row('additionalInterfaces', list(INTERFACE), 'endpoint'),
  row('supportsAuthenticatedExtendedCard', BOOLEAN, 'capability'),
  row('security', REQUIREMENTS, 'security'),
];

export const CARD_0_3: Message = {
  name: 'AgentCard',
  members: [
    row('name', STRING, 'identity', { required: true, vital: true }),
    row('description', STRING, 'identity', { required: true }),
    ...LEGACY_ROOT,
    row('provider', message(PROVIDER), 'identity'),
    row('version', STRING, 'cosmetic', { required: true }),
    row('documentationUrl', STRING, 'cosmetic'),
    row('iconUrl', STRING, 'cosmetic'),
    row('capabilities', message(CAPABILITIES), 'capability', { required: true }),
    row('securitySchemes', SCHEMES, 'security'),
    row('defaultInputModes', STRINGS, 'modes', { required: true }),
    row('defaultOutputModes', STRINGS, 'modes', { required: true }),
    row('skills', list(SKILL), 'skill-text', { required: true }),
    row('signatures', list(SIGNATURE), 'signature'),
  ],
};

/** 0.2 knew no version at the root until 0.2.5, and `authentication` until then. */
export const CARD_0_2: Message = {
  name: 'AgentCard',
  members: [
    ...CARD_0_3.members.map((member) =>
      member.name === 'protocolVersion' ? row('protocolVersion', STRING, 'protocol', { absent: '0.3.0' }) : member,
    ),
    row('authentication', message(AUTHENTICATION), 'security'),
  ],
};

const flow = (name: string, urls: readonly string[]): Message => ({
  name,
  members: [
    ...urls.map((url) => row(url, STRING, 'security', { required: true })),
    row('refreshUrl', STRING, 'security'),
    row('scopes', TEXTS, 'security', { required: true }),
  ],
});

const FLOWS: Message = {
  name: 'OAuthFlows',
  members: [
    row('authorizationCode', message(flow('AuthorizationCodeOAuthFlow', ['authorizationUrl', 'tokenUrl'])), 'security'),
    row('clientCredentials', message(flow('ClientCredentialsOAuthFlow', ['tokenUrl'])), 'security'),
    row('implicit', message(flow('ImplicitOAuthFlow', ['authorizationUrl'])), 'security'),
    row('password', message(flow('PasswordOAuthFlow', ['tokenUrl'])), 'security'),
  ],
};

const TYPE = (type: string): Member => row('type', STRING, 'security', { required: true, absent: type });
const DESCRIPTION = row('description', STRING, 'security');

/** The five kinds of scheme; in 0.x `type` says which one a scheme is. */
export const SCHEMES_0_3: ReadonlyMap<string, Message> = new Map([
  [
    'apiKey',
    {
      name: 'APIKeySecurityScheme',
      members: [
        TYPE('apiKey'),
        DESCRIPTION,
        row('in', STRING, 'security', { required: true, values: ['query', 'header', 'cookie'] }),
        row('name', STRING, 'security', { required: true }),
      ],
    },
  ],
  [
    'http',
    {
      name: 'HTTPAuthSecurityScheme',
      members: [
        TYPE('http'),
        DESCRIPTION,
        row('scheme', STRING, 'security', { required: true }),
        row('bearerFormat', STRING, 'security'),
      ],
    },
  ],
  [
    'oauth2',
    {
      name: 'OAuth2SecurityScheme',
      members: [
        TYPE('oauth2'),
        DESCRIPTION,
        row('flows', message(FLOWS), 'security', { required: true }),
        row('oauth2MetadataUrl', STRING, 'security'),
      ],
    },
  ],
  [
    'openIdConnect',
    {
      name: 'OpenIdConnectSecurityScheme',
      members: [TYPE('openIdConnect'), DESCRIPTION, row('openIdConnectUrl', STRING, 'security', { required: true })],
    },
  ],
  ['mutualTLS', { name: 'MutualTLSSecurityScheme', members: [TYPE('mutualTLS'), DESCRIPTION] }],
]);
