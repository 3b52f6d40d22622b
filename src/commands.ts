import { ADMIN_COMMANDS } from './cli/admin-commands.ts';
import { checkCommand } from './cli/check.ts';
import type { Command } from './cli/command.ts';
import { configCommand } from './cli/config.ts';
import { diffCommand } from './cli/diff.ts';
import { doctorCommand } from './cli/doctor.ts';
import { fetchCommand } from './cli/fetch.ts';
import { injectCommand } from './cli/inject.ts';
import { lintCommand } from './cli/lint.ts';
import { signCommand } from './cli/sign.ts';
import { verifyCommand } from './cli/verify.ts';
import type { World } from './daemon.ts';
import { examineBy } from './examine.ts';
import { connectAll, fetchOnce } from './fetch-once.ts';
import { fetchPublished } from './fetch-published.ts';

/** Every command that is no daemon. Those that fetch do it in the world that they are given. */
export const commandsIn = (world: World): readonly Command[] => [
  checkCommand((config) => connectAll(config, world)),
  configCommand,
  doctorCommand(examineBy(world)),
  fetchCommand((config, target) => fetchOnce(config, target, world)),
  verifyCommand,
  signCommand,
  diffCommand,
  lintCommand((url, io) => fetchPublished(url, io, world)),
  injectCommand,
  ...ADMIN_COMMANDS,
];
