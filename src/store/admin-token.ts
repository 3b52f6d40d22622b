import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createPrivate, readPrivate } from './state-folder.ts';

/** The file in the state folder that holds the token where no other is configured. */
export const ADMIN_TOKEN = 'admin-token';

/** 128 bits in hex: what is shorter, or was typed by a person, can be guessed. */
const SHORTEST = 32;

/** Makes a token: 256 bits, in characters that stand in a header as they are. */
export const newAdminToken = (): string => randomBytes(32).toString('base64url');

/** Reads the token of a state folder, or makes it at first start, for this user alone. */
export async function readStateToken(folder: string): Promise<string> {
  const file = path.join(folder, ADMIN_TOKEN);
  const found = await readPrivate(file);
  if (found !== undefined) return checkToken(found.toString('utf8'), file);
  const token = newAdminToken();
  await createPrivate(file, Buffer.from(`${token}\n`));
  return token;
}

/** Reads a token that the configuration names; a Secret mounted by Kubernetes is a link, so links are followed. */
export async function readConfiguredToken(file: string): Promise<string> {
  try {
    return checkToken(await readFile(file, 'utf8'), file);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('admin.token')) throw error;
    throw new Error(`admin.token: ${file} cannot be read`, { cause: error });
  }
}

/** Takes one from `env:NAME`. */
export const checkToken = (content: string, from: string): string => {
  const token = content.trim();
  if (/^[\x21-\x7e]+$/.test(token) && token.length >= SHORTEST && new Set(token).size > 8) return token;
  throw new Error(
    `admin.token: ${from} holds no token of at least ${SHORTEST} random characters; make one: openssl rand -hex 32`,
  );
};
