// `node scripts/run.mjs FILE.ts ARGS`: runs a TypeScript file in this process, or says in one line why it cannot.
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { needNode } from './need-node.mjs';

needNode();
process.argv.splice(1, 1);
await import(pathToFileURL(process.argv[1]).href);
