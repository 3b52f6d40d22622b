import type { Finding } from './findings.ts';

/** What came of reading one registry. */
export interface LookedAt {
  readonly name: string;
  readonly had: boolean;
  /** The agents that name it, as it says. */
  readonly agents: readonly {
    readonly agent: string;
    readonly status: string;
    readonly action: 'allow' | 'report' | 'hold' | 'block';
    readonly said: string;
    /** Why the place that it names is not used. */
    readonly misplaced: string | null;
  }[];
}

/** Says what registries mean for the agents that name them. */
export function registryFindings({ name, had, agents }: LookedAt): readonly Finding[] {
  const make = (level: Finding['level'], about: string, found: string, mend: string | null): Finding => ({
    area: 'registry',
    level,
    about,
    found,
    mend,
  });
  if (!had) {
    const mend =
      'Try its URL or file from this machine: what it said last holds for maxStale, and then its agents are unknown.';
    return [make('fail', name, 'it cannot be had', mend)];
  }
  return [
    make('ok', name, 'it can be had', null),
    ...agents.flatMap(({ agent, status, action, said, misplaced }) => [
      action === 'allow'
        ? make('ok', agent, `${name} says ${status}`, null)
        : make('look', agent, `${name} says ${status} (${said}), and the rule makes it ${action}`, MEND),
      ...(misplaced === null
        ? []
        : [make('fail', agent, misplaced, 'Let a rule in origins cover it, or ask who keeps the registry.')]),
    ]),
  ];
}

const MEND = 'Ask who keeps the registry; what becomes of each status is written at status of the registry.';
