import { isPrivateHost } from '../card/private-host.ts';

/** What was looked at: the heading that a finding stands under. */
export type Area = 'configuration' | 'disk' | 'dns' | 'tls' | 'clock' | 'registry' | 'origin' | 'keys';

/** One thing that works, that wants a look, or that does not work, and what to change then. */
export interface Finding {
  readonly area: Area;
  readonly level: 'ok' | 'look' | 'fail';
  /** What it is about: an agent, a file, a folder. */
  readonly about: string;
  readonly found: string;
  readonly mend: string | null;
}

/** What came of asking one agent's origin for its card. */
export interface Asked {
  readonly agent: string;
  readonly url: string;
  /** Addresses that its name has, as far as it was resolved. */
  readonly addresses: readonly string[];
  readonly answer: Answered | Refused;
  /** What the whole pipeline says of the card, in a line; null where it accepts it. */
  readonly refused: { readonly code: string; readonly detail: string } | null;
}

/** The origin answered. */
export interface Answered {
  readonly kind: 'answered';
  readonly status: number;
  readonly finalUrl: string;
  readonly contentType: string;
  /** How its text begins. */
  readonly start: string;
  /** How far this machine's clock is ahead of the origin's, in ms; null where it told no time. */
  readonly ahead: number | null;
}

/** The way out refused, or the origin could not be reached. */
export interface Refused {
  readonly kind: 'refused';
  readonly code: string;
  readonly detail: string;
}

/** Says what one origin's answer means, in the order in which an exchange goes. */
export function originFindings(asked: Asked): readonly Finding[] {
  const { answer } = asked;
  return [
    ...placeFindings(asked),
    ...(answer.kind === 'refused' ? refusedFindings(asked, answer) : answeredFindings(asked, answer)),
  ];
}

type Make = (area: Area, about: string, found: string, mend: string | null) => Finding;

const works = (area: Area, about: string, found: string): Finding => ({ area, level: 'ok', about, found, mend: null });
const wantsLook: Make = (area, about, found, mend) => ({ area, level: 'look', about, found, mend });
const fails: Make = (area, about, found, mend) => ({ area, level: 'fail', about, found, mend });

/** A URL that works on a laptop and nowhere else is found out only in the Pod, unless somebody says so. */
function placeFindings({ agent, url }: Asked): readonly Finding[] {
  const { hostname } = new URL(url);
  if (!isPrivateHost(hostname)) return [];
  const found = `${hostname} means something on this machine or in this network alone`;
  return [wantsLook('dns', agent, found, 'In a Pod or on another machine write the name that it has there.')];
}

function refusedFindings({ agent, addresses }: Asked, { code, detail }: Refused): readonly Finding[] {
  const resolved = addresses.length === 0 ? [] : [works('dns', agent, `resolves to ${addresses.join(', ')}`)];
  if (code === 'dns-failed') {
    const mend =
      'Does the name exist where Cardea runs? One that only a laptop or a VPN resolves does not exist in a Pod.';
    return [fails('dns', agent, detail, mend)];
  }
  if (code === 'tls-failed') return [...resolved, fails('tls', agent, detail, tlsMend(detail))];
  if (code === 'redirect-refused') {
    const mend =
      'Is it a redirect to a login? Then let this path through, or write credentials for this agent. Else write the URL that it leads to.';
    return [...resolved, fails('origin', agent, detail, mend)];
  }
  return [...resolved, fails('origin', agent, `${code}: ${detail}`, `/problems/${code} says more.`)];
}

/** The refusal names the setting; what is behind it is said here. */
function tlsMend(detail: string): string {
  if (/not valid yet|expired/.test(detail))
    return "Compare this machine's clock with another's before you ask the owner of the certificate.";
  if (/private CA|self-signed|not trusted|unknown CA/.test(detail)) {
    return 'A private CA, or a proxy that opens TLS, signed it: get its certificate (PEM) from whoever runs it and write it as tls.ca of this agent.';
  }
  return 'Compare with what a browser shows for this URL on the same machine.';
}

function answeredFindings(asked: Asked, answer: Answered): readonly Finding[] {
  const { agent, url, addresses } = asked;
  return [
    ...(addresses.length === 0 ? [] : [works('dns', agent, `resolves to ${addresses.join(', ')}`)]),
    url.startsWith('https:')
      ? works('tls', agent, 'the certificate holds')
      : wantsLook('tls', agent, CLEARTEXT, TAKE_TLS),
    cardFinding(asked, answer),
  ];
}

const CLEARTEXT = 'no TLS: anyone on the way can change what is read';
const TAKE_TLS = 'Take https as soon as the origin has it.';

function cardFinding({ agent, refused }: Asked, answer: Answered): Finding {
  if (refused === null) return works('origin', agent, 'its card is accepted');
  const { status, finalUrl } = answer;
  if (isHtml(answer)) {
    const found = `${finalUrl} answers ${status} with an HTML page instead of a card: a login page or a portal`;
    return fails(
      'origin',
      agent,
      found,
      'Let this path through without a login, write credentials for this agent, or correct the URL.',
    );
  }
  if (status === 401 || status === 403) {
    const mend =
      'Let this path through without credentials, or write what Cardea shows as credentials of this agent; if that is written, it is not accepted. What is for some alone belongs into an extended card.';
    return fails('origin', agent, `${finalUrl} answers ${status}: it wants credentials`, mend);
  }
  if (status === 404 || status === 410) {
    const mend = 'Write the whole URL of the card as `card`, if it is not at the usual place.';
    return fails('origin', agent, `${finalUrl} answers ${status}: there is no card`, mend);
  }
  return fails('origin', agent, `${refused.code}: ${refused.detail}`, `/problems/${refused.code} says more.`);
}

const isHtml = ({ contentType, start }: Answered): boolean =>
  /^(text\/html|application\/xhtml)/i.test(contentType) || /^\s*(<!doctype html|<html)/i.test(start);

/** A minute is what Date's seconds and a slow network excuse; at five tokens and certificates begin to fail. */
const LOOK_MS = 60_000;
const FAIL_MS = 300_000;
const SET_CLOCK = 'Set this clock by NTP: freshness, tokens and certificates are judged by it.';

/** Compares this machine's clock with the origin's that is nearest to it: one origin alone may be wrong. */
export function clockFinding(all: readonly Asked[]): Finding | undefined {
  const told = all.flatMap(({ answer, url }) =>
    answer.kind === 'answered' && answer.ahead !== null ? [{ url, ahead: answer.ahead }] : [],
  );
  const [nearest] = told.toSorted((one, other) => Math.abs(one.ahead) - Math.abs(other.ahead));
  if (nearest === undefined) return undefined;
  const { host } = new URL(nearest.url);
  const off = Math.abs(nearest.ahead);
  if (off < LOOK_MS) return works('clock', host, 'tells the same time');
  const found = `this clock is ${Math.round(off / 1_000)} s ${nearest.ahead > 0 ? 'ahead of' : 'behind'} the origin's`;
  return (off < FAIL_MS ? wantsLook : fails)('clock', host, found, SET_CLOCK);
}
