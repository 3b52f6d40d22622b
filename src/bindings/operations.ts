/** What is known of an A2A operation, whatever binding carries it (A2A 1.0 §3.1, §3.3.1). */
interface OperationFacts {
  /** JSON-RPC method names: 1.0's, then 0.3's and 0.2's. */
  readonly methods: readonly string[];
  /** Asking twice changes no more than asking once. */
  readonly idempotent: boolean;
}

const operation = (idempotent: boolean, ...methods: readonly string[]): OperationFacts => ({ methods, idempotent });

const OPERATIONS = {
  SendMessage: operation(false, 'SendMessage', 'message/send'),
  SendStreamingMessage: operation(false, 'SendStreamingMessage', 'message/stream'),
  GetTask: operation(true, 'GetTask', 'tasks/get'),
  ListTasks: operation(true, 'ListTasks', 'tasks/list'),
  CancelTask: operation(true, 'CancelTask', 'tasks/cancel'),
  SubscribeToTask: operation(true, 'SubscribeToTask', 'tasks/resubscribe'),
  CreateTaskPushNotificationConfig: operation(
    false,
    'CreateTaskPushNotificationConfig',
    'tasks/pushNotificationConfig/set',
  ),
  GetTaskPushNotificationConfig: operation(true, 'GetTaskPushNotificationConfig', 'tasks/pushNotificationConfig/get'),
  ListTaskPushNotificationConfigs: operation(
    true,
    'ListTaskPushNotificationConfigs',
    'tasks/pushNotificationConfig/list',
  ),
  DeleteTaskPushNotificationConfig: operation(
    true,
    'DeleteTaskPushNotificationConfig',
    'tasks/pushNotificationConfig/delete',
  ),
  GetExtendedAgentCard: operation(true, 'GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard'),
} as const satisfies Record<string, OperationFacts>;

export type OperationName = keyof typeof OPERATIONS;

const BY_METHOD: ReadonlyMap<string, OperationName> = new Map(
  Object.entries(OPERATIONS).flatMap(([name, { methods }]) =>
    methods.map((method): [string, OperationName] => [method, name as OperationName]),
  ),
);

/** Finds the operation behind a JSON-RPC method of any version; null for one that an extension brings. */
export const operationOf = (method: string): OperationName | null => BY_METHOD.get(method) ?? null;

/** Tells whether an operation may be sent again when nobody knows whether it arrived. What is not known to be, is not. */
export const isIdempotent = (name: OperationName | null): boolean => name !== null && OPERATIONS[name].idempotent;
