import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Message, Role, type SendMessageRequest, type StreamResponse, TaskState } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { type Daemon, startDaemon } from '../../src/daemon.ts';
import { validConfig } from '../support/config.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type TaskAgent, startTaskAgent } from '../support/task-agent.ts';

/** The official client, given nothing but a base URL at Cardea, against the official server. */

const clock = new FakeClock(Date.now());
const agents: Record<string, TaskAgent> = {};
let daemon: Daemon;

before(async () => {
  agents['modern'] = await startTaskAgent({ version: '1.0' });
  agents['legacy'] = await startTaskAgent({ version: '0.3' });
  agents['tenanted'] = await startTaskAgent({ version: '1.0', tenant: 'acme & co' });
  const local = 'route: through, unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
  const lines = Object.entries(agents).map(([name, { url }]) => `  ${name}: { origin: "${url}", ${local} }`);
  const config = await validConfig(`
listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: memory
agents:
${lines.join('\n')}
cache: { prefetch: false }
`);
  daemon = await startDaemon(config, { clock, log: { write: () => undefined } }, async () => config);
});

after(async () => {
  const drained = daemon.drain();
  await clock.advance(500);
  await Promise.all(Object.values(agents).map((agent) => agent.stop()));
  await drained;
});

const base = (name: string): string => `http://${daemon.started.agents[0]}/agents/${name}/`;

function clientFor(name: string, binding: string): Promise<Client> {
  const legacyCompat = { enabled: true };
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    preferredTransports: [binding],
    transports: [new JsonRpcTransportFactory({ legacyCompat }), new RestTransportFactory({ legacyCompat })],
    cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
  });
  return new ClientFactory(options).createFromUrl(base(name));
}

function say(text: string): SendMessageRequest {
  const message: Message = {
    messageId: crypto.randomUUID(),
    role: Role.ROLE_USER,
    contextId: '',
    taskId: '',
    parts: [{ content: { $case: 'text', value: text }, filename: '', mediaType: 'text/plain', metadata: {} }],
    extensions: [],
    referenceTaskIds: [],
    metadata: {},
  };
  return { tenant: '', message, configuration: undefined, metadata: {} };
}

async function firstTaskId(events: AsyncIterator<StreamResponse>): Promise<string> {
  const { value } = await events.next();
  assert.equal(value?.payload?.$case, 'task');
  return value.payload.value.id;
}

async function stateAtEnd(events: AsyncIterator<StreamResponse>): Promise<TaskState | undefined> {
  let state: TaskState | undefined;
  for (let next = await events.next(); next.done !== true; next = await events.next()) {
    const { payload } = next.value;
    if (payload?.$case === 'statusUpdate') state = payload.value.status?.state;
    if (payload?.$case === 'task') state = payload.value.status?.state;
  }
  return state;
}

describe('a client of 0.3 that sends no version', () => {
  test('gets the older members, all of them with the base URL, and its call goes to the interface of 0.3', async () => {
    const card = (await (await fetch(`${base('legacy')}.well-known/agent.json`)).json()) as LegacyCard;
    assert.equal(card.url, base('legacy').slice(0, -1));
    const listed = (card.additionalInterfaces ?? []).map(({ url, transport }) => `${transport} ${url}`);
    for (const one of listed) assert.ok(one.endsWith(` ${card.url}`), one);
    const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'now' }] };
    const request = { jsonrpc: '2.0', id: 7, method: 'message/send', params: { message } };
    const response = await fetch(card.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(request),
    });
    const { id, result } = (await response.json()) as { id: number; result: { status: { state: string } } };
    assert.deepEqual([id, result.status.state], [7, 'completed']);
    assert.equal(response.headers.get('cardea-interface'), `${agents['legacy']?.url}/rpc`);
  });

  interface LegacyCard {
    readonly url: string;
    readonly additionalInterfaces?: readonly { readonly url: string; readonly transport: string }[];
  }
});

for (const name of ['modern', 'legacy', 'tenanted']) {
  for (const binding of ['JSONRPC', 'HTTP+JSON']) {
    describe(`${name} over ${binding}`, () => {
      let client: Client;
      let asked = 0;
      test('the card names nothing but Cardea', async () => {
        asked = agents[name]?.log.length ?? 0;
        client = await clientFor(name, binding);
        const card = await new DefaultAgentCardResolver().resolve(base(name));
        for (const one of card.supportedInterfaces) assert.equal(one.url, base(name).slice(0, -1));
        assert.equal(card.supportedInterfaces.length, 2);
      });

      test('a message', async () => {
        const task = await client.sendMessage(say('now'));
        assert.ok('status' in task);
        assert.equal(task.status?.state, TaskState.TASK_STATE_COMPLETED);
      });

      test('a stream, the task from beside it, and its cancellation', async () => {
        const events = client.sendMessageStream(say('wait'));
        const id = await firstTaskId(events);
        const got = await client.getTask({ tenant: '', id, historyLength: undefined });
        assert.equal(got.status?.state, TaskState.TASK_STATE_WORKING);

        const again = client.resubscribeTask({ tenant: '', id });
        assert.equal(await firstTaskId(again), id);

        const canceled = await client.cancelTask({ tenant: '', id, metadata: {} });
        assert.equal(canceled.status?.state, TaskState.TASK_STATE_CANCELED);
        assert.equal(await stateAtEnd(events), TaskState.TASK_STATE_CANCELED);
        assert.equal(await stateAtEnd(again), TaskState.TASK_STATE_CANCELED);
      });

      if (name !== 'legacy') {
        test('the list of tasks', async () => {
          const { tasks } = await client.listTasks({
            tenant: '',
            contextId: '',
            status: TaskState.TASK_STATE_UNSPECIFIED,
            pageSize: undefined,
            pageToken: '',
            historyLength: undefined,
            statusTimestampAfter: undefined,
            includeArtifacts: undefined,
          });
          assert.ok(tasks.length >= 2);
        });
      }

      test('all of it came from Cardea', () => {
        const log = agents[name]?.log.slice(asked) ?? [];
        const least = name === 'legacy' ? 5 : 6;
        const path = binding === 'JSONRPC' ? '/rpc' : '/rest';
        assert.ok(log.filter(({ line }) => line.includes(` ${path}`)).length >= least, JSON.stringify(log));
        assert.deepEqual(
          log.filter(({ via }) => via !== '1.1 cardea'),
          [],
        );
      });
    });
  }
}
