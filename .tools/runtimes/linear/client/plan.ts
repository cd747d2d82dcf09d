/** What a client is told to do, and what it reports: one JSON value each, on a pipe or as a call of a page. */
import type { History, Operation } from "../checker/history.ts"
import type { Defect } from "./planted.ts"

export interface Plan {
  /** Unique in a history; the ids of its lines and values begin with it. */
  readonly name: string
  readonly seed: number
  readonly session: string
  /** Calls in all; 0 for a client that only reports what is stored. */
  readonly operations: number
  /** Calls that run at the same time. */
  readonly lanes: number
  /** The longest line, in bytes; the lengths vary below it. */
  readonly lineBytes: number
  /** Whether clients delete the session, create it again and replace its log. */
  readonly resets: boolean
  readonly defect?: Defect
  /** Where the storage is, as the adapter's client understands it. */
  readonly place: unknown
}

type Without<T, Key extends string> = T extends unknown ? Omit<T, Key> : never

/** A call without its times and its answer. */
export type Call = Without<Operation, "by" | "start" | "end" | "answer">
export type Answer = NonNullable<Operation["answer"]>

export interface Reports {
  /** A call begins. It is sent once the report has arrived where a kill of this client cannot take it back. */
  begin(n: number, call: Call): void | Promise<void>
  /** Its answer came, `at` is when by this client's clock. */
  end(n: number, answer: Answer, at: number): void | Promise<void>
}

/** What is stored at the end. */
export type Stored = Pick<History, "log" | "documents">
