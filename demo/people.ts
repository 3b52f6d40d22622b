import type { AgentCard } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { UserBuilder } from '@a2a-js/sdk/server/express';
import type { Request, RequestHandler } from 'express';

/** Whom an agent knows: their names by the tokens that they bring. */
export type People = ReadonlyMap<string, string>;

const nameOf = (people: People, { headers }: Request): string | undefined =>
  people.get((headers.authorization ?? '').replace(/^Bearer /i, ''));

/** Lets nobody in whom the agent does not know. */
export const guard =
  (people: People): RequestHandler =>
  (request, response, next) => {
    if (nameOf(people, request) !== undefined) next();
    else response.status(401).set('WWW-Authenticate', 'Bearer realm="demo"').json({ error: 'Who are you?' });
  };

/** Says who is calling, in the words of the official SDK. */
export const userBuilder =
  (people: People): UserBuilder =>
  (request) =>
    Promise.resolve({ isAuthenticated: true, userName: nameOf(people, request) ?? '' });

/** What the public card says of the people whom its agent knows: that there is more for them, and what they must bring. */
export const declaration = {
  capabilities: { streaming: true, extendedAgentCard: true },
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
};

/** The extended card of each: the public one, and a skill for its reader alone. */
export const extendedCard =
  (card: AgentCard, shownTo: string[]) =>
  ({ user }: ServerCallContext): Promise<AgentCard> => {
    const name = user?.userName ?? '';
    shownTo.push(name);
    const own = card.skills.map((skill) => ({ ...skill, id: `book-${name}`, name: `Book on ${name}'s account` }));
    return Promise.resolve({ ...card, skills: [...card.skills, ...own] });
  };
