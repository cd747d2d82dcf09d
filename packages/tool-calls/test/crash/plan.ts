/** What a process is told, and what it says. */

/** Where the sessions of a round are, for a process that opens them. */
export type Place =
  | { readonly kind: "files" | "sqlite"; readonly folder: string }
  | { readonly kind: "postgres"; readonly url: string; readonly schema: string }
  | { readonly kind: "s3"; readonly endpoint: string; readonly prefix: string }
  | { readonly kind: "http"; readonly url: string; readonly token: string }

export const KINDS = ["files", "sqlite", "s3", "http", "postgres"] as const
/**
 * `calls`: `run` and `resume` without a lease, several processes at once. `lease`: the same in turns with a lease. The others: the wrappers of the SDKs, in
 * turns with a lease; `chats` and `agents` with approval.
 */
export const WAYS = ["calls", "lease", "streamText", "generateText", "chats", "agents"] as const
export type Way = (typeof WAYS)[number]

export interface Plan {
  readonly place: Place
  /** Of the bank, and of what a program keeps outside of its sessions. */
  readonly folder: string
  readonly way: Way
  /** Of the processes of a round. */
  readonly n: number
  /** Runs the calls that it finds as if it had just got them, in place of settling them. */
  readonly runs: boolean
  /** The bank charges once under a key, so that a call is repeated that it does not know. */
  readonly takesKeys: boolean
  /** No other process is there that could still make a call. */
  readonly isAlone: boolean
  /** The step at which it kills itself, and the one at which it stops itself; -1: never. */
  readonly killAt: number
  readonly stopAt: number
}

/** A line of a process before it stops itself. */
export interface Said {
  readonly stops: true
}

export const SESSION = "s"
/** Short: a process that was killed in its turn is waited for this long. */
export const LEASE = 1_000
export const TOOLS = { charge: "never", look: "safe" } as const
/** The calls of each answer of the model, for the ways that have parallel calls. */
export const ANSWERS = [["charge a", "charge b", "look c"], ["charge d"]] as const

/** Where the agent is kept whose call waits for approval. */
export function stateFile(folder: string, callId: string): string {
  return `${folder}/run-state-${callId}`
}

/** The log of a way: that of an agent has an id of its own. */
export function logOf(way: Way): string {
  return way === "agents" ? `openai-agents.${SESSION}` : SESSION
}

/** What the receiver of a call is asked for. */
export interface Charge {
  readonly callId: string
  readonly key: string
}

export function receiptOf({ callId, key }: Charge): string {
  return `charged ${callId} under ${key}`
}
