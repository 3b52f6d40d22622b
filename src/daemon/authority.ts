import { bySocketMode, byToken, type CheckAuthority } from '../admin/authority.ts';
import type { Settings } from '../config/schema.ts';
import type { Clock } from '../ports.ts';
import { adminToken } from './state.ts';

/** Who administers this daemon. */
export interface AdminAuthority {
  readonly check: CheckAuthority;
  /** The token, where this process alone knows it and somebody must be told; else null. */
  readonly untold: string | null;
}

/** On a socket in the file system its mode says who may come in, and a token would be a second lock on the same door. */
export async function adminAuthority(settings: Settings, clock: Clock): Promise<AdminAuthority> {
  if (settings.listen.admin.address.kind === 'unix') return { check: bySocketMode, untold: null };
  const { token, kept } = await adminToken(settings);
  return { check: byToken(() => token, clock), untold: kept ? null : token };
}
