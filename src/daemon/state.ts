import { type SigningKey, readSigningKey } from '../card/sign.ts';
import type { Settings } from '../config/schema.ts';
import type { Clock, KillBook } from '../ports.ts';
import type { RevocationBook } from '../ports/callers.ts';
import { checkToken, newAdminToken, readConfiguredToken, readStateToken } from '../store/admin-token.ts';
import { type OpenedKills, openKills } from '../store/kills.ts';
import type { RegistryRecord } from '../ports/registries.ts';
import { openRegistries } from '../store/registry-record.ts';
import { openRevocations } from '../store/revocations.ts';
import { type State, type StateParts, openMemoryState, openStateFolder } from '../store/open-state.ts';
import { makeStateFolder } from '../store/state-file.ts';
import { lockStateFolder } from '../store/state-folder.ts';

/** What outlives a restart, opened, with the key that signs rewritten cards ready for use. */
export type OpenedState = Omit<State, 'cardKey'> & { readonly cardKey: SigningKey };

/** What outlives a restart, in the order in which it is opened: the lock, the kills, the revocations, then what registries said and everything that may fail. */
export interface DaemonState {
  readonly kills: KillBook;
  readonly revocations: RevocationBook;
  readonly registryRecord: RegistryRecord;
  readonly notices: OpenedKills['notices'];
  open(parts: Pick<StateParts, 'clock' | 'observer'>): Promise<OpenedState>;
}

/** Takes the state folder for this process and reads what is stopped and who is revoked. */
export async function takeState(settings: () => Settings, clock: Clock): Promise<DaemonState> {
  const { state } = settings();
  const bounds = () => settings().receipts;
  if (state.kept === 'memory') return takeNoState(clock);
  await makeStateFolder(state.path);
  const lock = lockStateFolder(state.path);
  const { book, notices } = await openKills(state.path, clock);
  const { revocations, notices: more } = await openRevocations(state.path, clock);
  const registries = await openRegistries(state.path);
  return {
    kills: book,
    revocations,
    registryRecord: registries.registryRecord,
    notices: [...notices, ...more, ...registries.notices],
    open: async (parts) => withCardKey(await openStateFolder(state.path, lock, { ...parts, bounds })),
  };
}

/** State that ends with the process. */
export async function takeNoState(clock: Clock): Promise<DaemonState> {
  const { book, notices } = await openKills(null, clock);
  const { revocations } = await openRevocations(null, clock);
  const { registryRecord } = await openRegistries(null);
  return { kills: book, revocations, registryRecord, notices, open: (parts) => withCardKey(openMemoryState(parts)) };
}

/** The admin token, and whether anybody but this process knows it. */
export interface AdminToken {
  readonly token: string;
  readonly kept: boolean;
}

/** Reads the configured token, else the state folder's, else makes one for this start alone. */
export async function adminToken({ admin, state }: Settings): Promise<AdminToken> {
  const { token } = admin;
  if (token?.from === 'environment') {
    return { token: checkToken(process.env[token.name] ?? '', `the variable ${token.name}`), kept: true };
  }
  if (token?.from === 'file') return { token: await readConfiguredToken(token.path), kept: true };
  if (state.kept === 'memory') return { token: newAdminToken(), kept: false };
  try {
    return { token: await readStateToken(state.path), kept: true };
  } catch (error) {
    // A disk that takes no token must not keep cards from being served.
    if (!isFullOrReadOnly(error)) throw error;
    return { token: newAdminToken(), kept: false };
  }
}

const isFullOrReadOnly = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT'].includes(String(error.code));

/** Reads the key that signs rewritten cards; a state folder whose key is none keeps the daemon from starting. */
async function withCardKey(state: State): Promise<OpenedState> {
  const reading = await readSigningKey(state.cardKey);
  if (reading.ok) return { ...state, cardKey: reading.key };
  await state.close();
  throw new Error(`state: the key that signs rewritten cards is of no use, since ${reading.why}; take card-key away`);
}
