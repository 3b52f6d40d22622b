import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { Role, type SendMessageRequest } from '@a2a-js/sdk';
import { type Client, ClientFactory } from '@a2a-js/sdk/client';
import type { RunningAgent } from './agents.ts';
import type { Story } from './story.ts';

/** What the chapter about calls needs: the running daemon by its command and configuration, and the agent behind it. */
export interface Calls {
  /** `http://127.0.0.1:PORT` of Cardea. */
  readonly base: string;
  readonly agent: RunningAgent;
  readonly launcher: string;
  readonly config: string;
}

const run = promisify(execFile);

/** The official SDK's client speaks to the agent through Cardea, until somebody throws the switch. */
export async function tellCalls({ title, say, command }: Story, calls: Calls): Promise<void> {
  title('The client speaks to its agent through Cardea, until somebody throws the switch');
  const client = await new ClientFactory().createFromUrl(`${calls.base}/agents/weather/`);
  say(`The card that it got names ${calls.base}/agents/weather and nothing else: route: through.`);
  say(`It asks: "What will the weather be?"  It hears: "${await heard(client)}"`);
  const sent = calls.agent.calls.length;
  const direct = calls.agent.calls.filter(({ via }) => via !== '1.1 cardea').length;
  say(`The agent has had ${sent} call(s), ${direct} of them from somebody else than Cardea.`);

  const cardea = (...words: readonly string[]) => run(calls.launcher, [...words, '--config', calls.config]);
  say('It watches a stream of forecasts, while an operator types:');
  let seen = 0;
  let killing: Promise<string> | undefined;
  try {
    for await (const _ of client.sendMessageStream(request('watch'))) {
      seen += 1;
      if (seen !== WATCHED) continue;
      command(`cardea kill agent:weather --reason "${REASON}"`, `after ${seen} events`);
      killing = cardea('kill', 'agent:weather', '--reason', REASON, '--json').then(idIn);
    }
  } catch (error) {
    say(`The stream ended after ${seen} events: ${messageOf(error)}`);
  }
  const kill = (await killing) ?? '';
  say(`It asks again: ${await heard(client).catch(messageOf)}`);
  command(`cardea lift ${kill} --reason "checked"`, 'only a person with authority can');
  await cardea('lift', kill, '--reason', 'checked');
  say(`It asks once more: "${await heard(client)}"`);
}

const WATCHED = 3;
const REASON = 'forecasts look forged';

async function heard(client: Client): Promise<string> {
  const answer = await client.sendMessage(request('What will the weather be?'));
  const content = 'parts' in answer ? answer.parts[0]?.content : undefined;
  return content?.$case === 'text' ? content.value : '';
}

const idIn = ({ stdout }: { readonly stdout: string }): string => (JSON.parse(stdout) as { readonly id: string }).id;

/** What went wrong, without what stands behind it for programs. */
const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/ \(Code: .*$/, '');

const request = (text: string): SendMessageRequest => ({
  tenant: '',
  configuration: undefined,
  metadata: {},
  message: {
    messageId: randomUUID(),
    role: Role.ROLE_USER,
    contextId: '',
    taskId: '',
    parts: [{ content: { $case: 'text', value: text }, filename: '', mediaType: 'text/plain', metadata: {} }],
    extensions: [],
    referenceTaskIds: [],
    metadata: {},
  },
});
