import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { Limits, OauthClient, OwnCredential, Rules } from '../policy/rules.ts';
import { ClientToken, type TokenDoors } from './client-token.ts';
import type { Presented, Showable } from './showing.ts';

/** Gives the Authorization that Cardea itself shows an agent; the text goes into one request and nowhere else. */
export interface OwnCredentials {
  show(credential: OwnCredential): Showable;
  /** Lets go of the tokens of clients that the rules do not name. */
  follow(rules: Pick<Rules, 'agents' | 'origins'>): void;
  /** Resolves when no token is on its way. */
  settled(): Promise<void>;
}

/** One per token endpoint and client of the configuration, so that nobody fills it from outside. */
export function createOwnCredentials(doors: TokenDoors, limits: () => Limits): OwnCredentials {
  const clients = new Map<string, ClientToken>();
  const clientFor = (client: OauthClient): ClientToken => {
    const key = JSON.stringify(client);
    const known = clients.get(key) ?? new ClientToken(client, doors, limits);
    clients.set(key, known);
    return known;
  };
  return {
    show: (credential) =>
      credential.by === 'client' ? ofClient(() => clientFor(credential)) : ofFile(doors, credential),
    follow(rules) {
      const named = new Set(clientsOf(rules));
      for (const key of clients.keys()) if (!named.has(key)) clients.delete(key);
    },
    async settled() {
      await Promise.all([...clients.values()].map((client) => client.settled()));
    },
  };
}

const clientsOf = ({ agents, origins }: Pick<Rules, 'agents' | 'origins'>): readonly string[] =>
  [...agents.values(), ...origins.flatMap(({ card }) => card ?? [])]
    .flatMap(({ credentials, extended }) => [credentials, extended.credentials])
    .flatMap((each) => (typeof each !== 'string' && each.by === 'client' ? [JSON.stringify(each)] : []));

const ofClient = (client: () => ClientToken): Showable => ({
  authorization: () => client().authorization(),
  async another({ field, isNew }) {
    if (field !== null) client().forget(field);
    return isNew ? undefined : valueOf(await client().authorization());
  },
});

/** The file is read for each exchange; it may have been rotated between reading and refusing. */
function ofFile({ secrets }: TokenDoors, { name, file }: Extract<OwnCredential, { by: 'static' }>): Showable {
  const authorization = async (): Promise<Outcome<Presented>> => {
    const token = await secrets.read({ from: 'file', path: file });
    if (token !== undefined) return accepted({ field: `Bearer ${token}`, isNew: false });
    const detail = `No token can be read where ${name}.credentials.static says; write one there.`;
    return refused(refuse('origin-unreachable', detail));
  };
  return {
    authorization,
    async another({ field, isNew }) {
      const other = isNew ? undefined : valueOf(await authorization());
      return other?.field === field ? undefined : other;
    },
  };
}

const valueOf = (outcome: Outcome<Presented>): Presented | undefined => (outcome.ok ? outcome.value : undefined);
