import { bySocketMode, type CheckAuthority, createTokenDoor } from '../admin/authority.ts';
import { readConsoleFiles } from '../admin/console-files.ts';
import type { ConsolePorts } from '../admin/ports.ts';
import type { ListenerSettings } from '../config/compile.ts';
import type { Settings } from '../config/schema.ts';
import type { Clock } from '../ports.ts';
import { type AdminToken, adminToken } from './state.ts';

/** Who administers this daemon. */
export interface AdminAuthority {
  /** Says who has authority at one listener: it goes with the listener, so that a change of address opens no second way in. */
  checkAt(listener: ListenerSettings): CheckAuthority;
  /** What browsers find there; null on a socket, which none of them can open. */
  consoleAt(listener: ListenerSettings): ConsolePorts | null;
  /** The token, where this process alone knows it and somebody must be told; else null. */
  readonly untold: string | null;
  /** Reads the token of another configuration; throws where it cannot be read. It counts once the function is called. */
  prepare(settings: Settings): Promise<() => void>;
}

/** On a socket in the file system its mode says who may come in, and a token would be a second lock on the same door. */
export async function adminAuthority(settings: Settings, clock: Clock): Promise<AdminAuthority> {
  let held = await tokenOf(settings);
  const files = await readConsoleFiles();
  const door = createTokenDoor(() => held?.token ?? null, clock);
  return {
    checkAt: ({ address }) => (address.kind === 'unix' ? bySocketMode : door.check),
    consoleAt: ({ address }) => (address.kind === 'unix' ? null : { files, door }),
    untold: held?.kept === false ? held.token : null,
    async prepare(next) {
      const token = await tokenToday(next, held);
      return () => {
        const isSame = token?.token === held?.token;
        held = token;
        if (!isSame) door.shut();
      };
    },
  };
}

const tokenOf = async (settings: Settings): Promise<AdminToken | null> =>
  settings.listen.admin.address.kind === 'unix' ? null : adminToken(settings);

/** A token that is known to this process alone was told once, at start: it stays, and none is made when nobody looks any more. */
async function tokenToday(settings: Settings, held: AdminToken | null): Promise<AdminToken | null> {
  if (settings.admin.token === null && held?.kept === false) return held;
  const token = await tokenOf(settings);
  if (token?.kept === false) throw new Error('admin.token: nobody would know the token; name a file or variable');
  return token;
}
