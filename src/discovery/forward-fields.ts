import { fieldPairs, withField } from '../http/fields.ts';
import { endToEnd } from '../kernel/end-to-end.ts';
import { cacheStatusForwarded, handedOn } from '../http/answer.ts';
import type { Fields } from '../kernel/fields.ts';
import { type Url, urlId } from '../kernel/ids.ts';

/** What a call must not lose on its way, even where `Connection` names it: the next server would read it as another call. */
const KEPT = /^(?:a2a-version|(?:x-)?a2a-extensions|traceparent|tracestate)$/i;
/** What is for the proxy that it was sent to, and goes no further. */
const FOR_US = /^(?:proxy-|cardea-|host$|connection$|x-http-method|x-original-url$|x-rewrite-url$)/i;

/** Makes the fields that go with a call to the agent: end-to-end ones, without what is addressed to Cardea. */
export function callFields(fields: Fields): Fields {
  const pairs = [...fieldPairs(fields)];
  const kept = pairs.filter(([name]) => KEPT.test(name));
  const others = pairs.filter(([name]) => !KEPT.test(name)).flat();
  const passed = [...fieldPairs(endToEnd(others))].filter(([name]) => !FOR_US.test(name));
  return [...passed, ...kept].flat();
}

/**
 * What an agent may not say in Cardea's name: which web pages may read it, where else it can be reached, and what a browser keeps for the
 * host, which is Cardea's for all agents.
 */
const NOT_PASSED = /^(?:access-control-|proxy-|alt-svc$|clear-site-data$|strict-transport-security$|cardea-)/i;

/** What is said of an answer besides what the agent says. */
export interface AnswerPlace {
  /** The interface that was used. */
  readonly used: Url;
  /** The path of the agent's base URL here: `/agents/weather`. */
  readonly basePath: string;
}

/** Makes the fields of the answer that the caller gets: the agent's, with the interface that was used. */
export function answerFields(fields: Fields, status: number, { used, basePath }: AnswerPlace): Fields {
  const passed = [...fieldPairs(fields)]
    .filter(([name]) => !NOT_PASSED.test(name))
    .map(([name, value]) => [name, /^set-cookie$/i.test(name) ? ownCookie(value, basePath) : value])
    .flat();
  const own = cacheStatusForwarded({ why: 'bypass', status });
  return withField(handedOn(passed, own), 'Cardea-Interface', used);
}

/** A URL as it is shown: a query may hold a key. */
export const withoutQuery = (url: Url): Url => urlId(url.replace(/\?.*$/, ''));

/** All agents have one host here: a cookie is kept to the one that set it, by its path. */
const ownCookie = (cookie: string, path: string): string =>
  `${cookie.replace(/;\s*(?:domain|path)(?:=[^;]*)?(?=;|$)/gi, '')}; Path=${path}`;

/**
 * Makes the URL that a call goes to: the interface's own, then the operation's path, then both queries.
 * @param target the raw request-target of the caller.
 */
export function callUrl(used: Url, below: string, target: string): Url {
  const { origin, pathname, search } = new URL(used);
  const path = below === '' ? pathname : pathname.replace(/\/+$/, '') + below;
  const mark = target.indexOf('?');
  // What a strict reader of URLs would refuse in a query is written as what it means.
  const asked = mark === -1 ? '' : target.slice(mark + 1).replaceAll('\\', '%5C');
  const query = [search.slice(1), asked].filter((part) => part !== '').join('&');
  return urlId(`${origin}${path}${query === '' ? '' : `?${query}`}`);
}
