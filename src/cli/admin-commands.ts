import type { Command } from './command.ts';
import { consoleCommand } from './console.ts';
import { drainCommand } from './drain.ts';
import { explainCommand } from './explain.ts';
import { healthCommand } from './health.ts';
import { killCommand } from './kill.ts';
import { liftCommand } from './lift.ts';
import { purgeCommand } from './purge.ts';
import { receiptsCommand } from './receipts.ts';
import { approveCommand, rejectCommand } from './decide.ts';
import { reviewCommand } from './review.ts';
import { refreshCommand } from './refresh.ts';
import { reloadCommand } from './reload.ts';
import { statusCommand } from './status.ts';

/** Every command that talks to the running daemon, in the order in which the help lists them. */
export const ADMIN_COMMANDS: readonly Command[] = [
  statusCommand,
  consoleCommand,
  explainCommand,
  reviewCommand,
  approveCommand,
  rejectCommand,
  receiptsCommand,
  refreshCommand,
  purgeCommand,
  killCommand,
  liftCommand,
  reloadCommand,
  drainCommand,
  healthCommand,
];
