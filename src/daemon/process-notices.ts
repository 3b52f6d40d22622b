import type { Event } from '../kernel/event.ts';

/** How this process was started, as far as it concerns what Cardea promises. */
export interface StartedWith {
  readonly execArgv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

type Notice = Extract<Event, { kind: 'notice' }>;

interface Flag {
  readonly names: readonly string[];
  readonly level: Notice['level'];
  readonly why: string;
}

/** What somebody may have left in NODE_OPTIONS, and what it means here. */
const FLAGS: readonly Flag[] = [
  {
    names: ['--inspect', '--inspect-brk', '--inspect-wait'],
    level: 'error',
    why: "whoever reaches the inspector's port reads every token and lifts every stop: take it away",
  },
  {
    names: ['--tls-keylog'],
    level: 'error',
    why: 'the keys of every TLS connection are written to a file: take it away',
  },
  {
    names: ['--heapsnapshot-signal', '--heapsnapshot-near-heap-limit', '--report-on-signal', '--report-on-fatalerror'],
    level: 'warn',
    why: 'what is written holds what is in memory, credentials of callers included: keep it where only the operator reads',
  },
  {
    names: ['--insecure-http-parser', '--max-http-header-size', '--tls-min-v1.0', '--tls-min-v1.1'],
    level: 'warn',
    why: 'it is overruled: Cardea parses strictly, within bounds of its own, and speaks TLS 1.2 or newer',
  },
];

/** Says which options of Node, given to this process, weaken it or would like to. */
export function processNotices({ execArgv, env }: StartedWith): readonly Notice[] {
  const given = [...execArgv, ...(env['NODE_OPTIONS'] ?? '').split(/\s+/)].map(nameOf);
  const found = FLAGS.flatMap(({ names, level, why }): Notice[] => {
    const flags = names.filter((name) => given.includes(name));
    return flags.length === 0 ? [] : [{ kind: 'notice', level, msg: 'Node was started with', about: { flags, why } }];
  });
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return found;
  const why = 'it is overruled: the certificate of every origin is verified';
  return [
    ...found,
    {
      kind: 'notice',
      level: 'warn',
      msg: 'Node was started with',
      about: { flags: ['NODE_TLS_REJECT_UNAUTHORIZED=0'], why },
    },
  ];
}

/** `--inspect=0.0.0.0:9229`, `"--inspect"` and `--inspect_brk` are spellings of one flag each. */
const nameOf = (flag: string): string =>
  flag.replaceAll('"', '').replace(/=.*$/, '').replaceAll('_', '-').toLowerCase();
