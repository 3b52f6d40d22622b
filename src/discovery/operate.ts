import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { Route } from '../policy/route.ts';
import { type ReadHead, readRpc } from './call-body.ts';
import type { Caller } from './callers.ts';
import { readExtendedPath, readExtendedRpc } from './extended-call.ts';
import type { Forward } from './forward.ts';
import type { RefuseOperation } from './operation.ts';
import type { ServeExtended } from './serve-extended.ts';

/** Answers an A2A operation: an extended card is served, everything else is sent on, or is the agent's own business. */
export type Operate = (asked: Asked, route: Operation) => Answer | Promise<Answer>;

type Operation = Extract<Route, { to: 'operation' }>;

/** A request, and who makes it. */
interface Asked {
  readonly ask: Ask;
  readonly caller: Caller;
  /** What was read of a JSON-RPC request. */
  readonly read?: ReadHead | undefined;
}

export interface OperateParts {
  readonly serveExtended: ServeExtended;
  readonly forward: Forward;
  readonly otherwise: RefuseOperation;
}

/** JSON-RPC is spoken at the base URL itself, with or without its slash; HTTP+JSON below it. */
const isBase = (below: string): boolean => below === '' || below === '/';

export function createOperate(parts: OperateParts): Operate {
  const { serveExtended } = parts;
  return ({ ask, caller }, route) => {
    if (ask.method === 'POST' && isBase(route.below)) return overRpc(parts, { ask, caller }, route);
    const call = readExtendedPath(ask, route.below);
    return call === undefined ? other(parts, { ask, caller }, route) : serveExtended(call, route.agent, caller);
  };
}

/** Reads the head of a JSON-RPC request; what is for somebody else goes on with its whole body. */
async function overRpc(parts: OperateParts, { ask, caller }: Asked, route: Operation): Promise<Answer> {
  const read = await readRpc(ask.body);
  const call = read.wrong === undefined ? readExtendedRpc(ask, route.below, read.head) : undefined;
  return call === undefined
    ? other(parts, { ask, caller, read }, route)
    : parts.serveExtended(call, route.agent, caller);
}

function other(
  { forward, otherwise }: OperateParts,
  { ask, caller, read }: Asked,
  route: Operation,
): Answer | Promise<Answer> {
  const { agent, below } = route;
  switch (agent.card.route) {
    case 'direct':
      return otherwise(ask, agent, undefined, read);
    case 'through':
      return forward(ask, agent, { below, callerTags: caller.tags, read });
  }
}
