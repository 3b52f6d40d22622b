import type { Message } from './table.ts';
import { BOOLEAN, list, message, REQUIREMENTS, row, SCHEMES, STRING, STRINGS, STRUCT, TEXTS } from './table.ts';

/** A2A 1.0 (specification/a2a.proto), in the order of the specification. */

const INTERFACE: Message = {
  name: 'AgentInterface',
  members: [
    row('url', STRING, 'endpoint', { required: true, vital: true }),
    row('protocolBinding', STRING, 'protocol', { required: true, vital: true }),
    row('tenant', STRING, 'endpoint'),
    row('protocolVersion', STRING, 'protocol', { required: true }),
  ],
};

export const PROVIDER: Message = {
  name: 'AgentProvider',
  members: [
    row('url', STRING, 'identity', { required: true }),
    row('organization', STRING, 'identity', { required: true }),
  ],
};

export const EXTENSION: Message = {
  name: 'AgentExtension',
  key: 'uri',
  members: [
    row('uri', STRING, 'extension', { vital: true }),
    row('description', STRING, 'extension'),
    row('required', BOOLEAN, 'extension'),
    row('params', STRUCT, 'extension'),
  ],
};

const CAPABILITIES: Message = {
  name: 'AgentCapabilities',
  members: [
    row('streaming', BOOLEAN, 'capability', { presence: true }),
    row('pushNotifications', BOOLEAN, 'capability', { presence: true }),
    row('extensions', list(EXTENSION), 'extension'),
    row('extendedAgentCard', BOOLEAN, 'capability', { presence: true }),
  ],
};

const SKILL: Message = {
  name: 'AgentSkill',
  key: 'id',
  members: [
    row('id', STRING, 'skill-text', { required: true }),
    row('name', STRING, 'skill-text', { required: true }),
    row('description', STRING, 'skill-text', { required: true }),
    row('tags', STRINGS, 'skill-text', { required: true }),
    row('examples', STRINGS, 'skill-text'),
    row('inputModes', STRINGS, 'skill-io'),
    row('outputModes', STRINGS, 'skill-io'),
    row('securityRequirements', REQUIREMENTS, 'security'),
  ],
};

export const SIGNATURE: Message = {
  name: 'AgentCardSignature',
  members: [
    row('protected', STRING, 'signature', { required: true }),
    row('signature', STRING, 'signature', { required: true }),
    row('header', STRUCT, 'signature'),
  ],
};

export const CARD_1_0: Message = {
  name: 'AgentCard',
  members: [
    row('name', STRING, 'identity', { required: true, vital: true }),
    row('description', STRING, 'identity', { required: true }),
    row('supportedInterfaces', list(INTERFACE), 'endpoint', { required: true, vital: true }),
    row('provider', message(PROVIDER), 'identity'),
    row('version', STRING, 'cosmetic', { required: true }),
    row('documentationUrl', STRING, 'cosmetic', { presence: true }),
    row('capabilities', message(CAPABILITIES), 'capability', { required: true }),
    row('securitySchemes', SCHEMES, 'security'),
    row('securityRequirements', REQUIREMENTS, 'security'),
    row('defaultInputModes', STRINGS, 'modes', { required: true }),
    row('defaultOutputModes', STRINGS, 'modes', { required: true }),
    row('skills', list(SKILL), 'skill-text', { required: true }),
    row('signatures', list(SIGNATURE), 'signature'),
    row('iconUrl', STRING, 'cosmetic', { presence: true }),
  ],
};

const AUTHORIZATION_CODE: Message = {
  name: 'AuthorizationCodeOAuthFlow',
  members: [
    row('authorizationUrl', STRING, 'security', { required: true }),
    row('tokenUrl', STRING, 'security', { required: true }),
    row('refreshUrl', STRING, 'security'),
    row('scopes', TEXTS, 'security', { required: true }),
    row('pkceRequired', BOOLEAN, 'security'),
  ],
};

const CLIENT_CREDENTIALS: Message = {
  name: 'ClientCredentialsOAuthFlow',
  members: [
    row('tokenUrl', STRING, 'security', { required: true }),
    row('refreshUrl', STRING, 'security'),
    row('scopes', TEXTS, 'security', { required: true }),
  ],
};

const IMPLICIT: Message = {
  name: 'ImplicitOAuthFlow',
  members: [
    row('authorizationUrl', STRING, 'security'),
    row('refreshUrl', STRING, 'security'),
    row('scopes', TEXTS, 'security'),
  ],
};

const PASSWORD: Message = {
  name: 'PasswordOAuthFlow',
  members: [
    row('tokenUrl', STRING, 'security'),
    row('refreshUrl', STRING, 'security'),
    row('scopes', TEXTS, 'security'),
  ],
};

const DEVICE_CODE: Message = {
  name: 'DeviceCodeOAuthFlow',
  members: [
    row('deviceAuthorizationUrl', STRING, 'security', { required: true }),
    row('tokenUrl', STRING, 'security', { required: true }),
    row('refreshUrl', STRING, 'security'),
    row('scopes', TEXTS, 'security', { required: true }),
  ],
};

const FLOWS: Message = {
  name: 'OAuthFlows',
  oneOf: 'flow',
  members: [
    row('authorizationCode', message(AUTHORIZATION_CODE), 'security'),
    row('clientCredentials', message(CLIENT_CREDENTIALS), 'security'),
    row('implicit', message(IMPLICIT), 'security'),
    row('password', message(PASSWORD), 'security'),
    row('deviceCode', message(DEVICE_CODE), 'security'),
  ],
};

const API_KEY: Message = {
  name: 'APIKeySecurityScheme',
  members: [
    row('description', STRING, 'security'),
    row('location', STRING, 'security', { required: true, values: ['query', 'header', 'cookie'] }),
    row('name', STRING, 'security', { required: true }),
  ],
};

const HTTP_AUTH: Message = {
  name: 'HTTPAuthSecurityScheme',
  members: [
    row('description', STRING, 'security'),
    row('scheme', STRING, 'security', { required: true }),
    row('bearerFormat', STRING, 'security'),
  ],
};

const OAUTH2: Message = {
  name: 'OAuth2SecurityScheme',
  members: [
    row('description', STRING, 'security'),
    row('flows', message(FLOWS), 'security', { required: true }),
    row('oauth2MetadataUrl', STRING, 'security'),
  ],
};

const OPEN_ID_CONNECT: Message = {
  name: 'OpenIdConnectSecurityScheme',
  members: [row('description', STRING, 'security'), row('openIdConnectUrl', STRING, 'security', { required: true })],
};

const MUTUAL_TLS: Message = {
  name: 'MutualTlsSecurityScheme',
  members: [row('description', STRING, 'security')],
};

/** The five kinds of scheme; in 1.0 a scheme is an object with exactly one of these members. */
export const SCHEME_1_0: Message = {
  name: 'SecurityScheme',
  oneOf: 'scheme',
  members: [
    row('apiKeySecurityScheme', message(API_KEY), 'security'),
    row('httpAuthSecurityScheme', message(HTTP_AUTH), 'security'),
    row('oauth2SecurityScheme', message(OAUTH2), 'security'),
    row('openIdConnectSecurityScheme', message(OPEN_ID_CONNECT), 'security'),
    row('mtlsSecurityScheme', message(MUTUAL_TLS), 'security'),
  ],
};
