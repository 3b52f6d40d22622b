import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import type { RunningAgent } from './agents.ts';
import type { Story } from './story.ts';

/** Somebody whom the planner knows, by the token that they bring. */
export interface Person {
  readonly name: string;
  readonly token: string;
}

/** What the chapter about extended cards needs. */
export interface Extended {
  /** `http://127.0.0.1:PORT` of Cardea. */
  readonly base: string;
  readonly planner: RunningAgent;
  readonly people: readonly Person[];
}

/** Each user's client of the official SDK asks for the extended card, twice: everybody has their own, from then on from the cache. */
export async function tellExtended({ title, say, exchange }: Story, given: Extended): Promise<void> {
  const { base, planner, people } = given;
  title('The planner has more to show to whom it knows, to each something else');
  for (const person of people) {
    const client = await clientOf(base, person);
    say(`${person.name}'s client is shown: ${await skills(client)}.`);
    say(`  and once more: ${await skills(client)}.`);
  }
  say(`The planner showed ${planner.shownTo.length} cards, one each to ${planner.shownTo.join(' and ')}.`);
  const url = `${base}/agents/planner/extendedAgentCard`;
  const version = { 'A2A-Version': '1.0' };
  for (const { name, token } of people) {
    const headers = { ...version, Authorization: `Bearer ${token}` };
    exchange(`GET the extended card as ${name}, over the other binding`, await fetch(url, { headers }));
  }
  exchange('GET it as nobody', await fetch(url, { headers: version }));
  say(`The planner has still shown ${planner.shownTo.length}.`);
}

/** The skills that this client's user is shown. */
async function skills(client: Client): Promise<string> {
  const card = await client.getAgentCard();
  return card.skills.map(({ name }) => name).join(', ');
}

function clientOf(base: string, { token }: Person): Promise<Client> {
  const fetchImpl: typeof fetch = (url, init) => {
    const headers = new Headers(init?.headers);
    headers.set('Authorization', `Bearer ${token}`);
    return fetch(url, { ...init, headers });
  };
  const transports = [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })];
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports });
  return new ClientFactory(options).createFromUrl(`${base}/agents/planner/`);
}
