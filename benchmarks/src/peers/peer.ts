/** What each of them is asked for, on the same conversation. */
import type { Message } from "@sessions/core"

export interface Peer {
  readonly name: string
  /** Where it keeps sessions: files are compared with files, memory with memory. */
  readonly kind: "files" | "memory"
  /** Writes a session; what it gives opens it from there until its messages are in hand, and says how many they are. */
  readonly open?: (folder: string, conversation: Conversation) => Promise<() => Promise<number>>
  /** What it gives appends one message, until the program says that it has it. */
  readonly append?: (folder: string) => Promise<(message: Message) => Promise<unknown>>
  /** Writes sessions of one message each; what it gives lists them all and says how many they are. */
  readonly list?: (folder: string, count: number) => Promise<() => Promise<number>>
}

export interface Conversation {
  readonly messages: readonly Message[]
  /** So many of the last ones are live behind a compaction; undefined: there is none. */
  readonly kept?: number
}

export const SUMMARY = "## Goal\nKeep going."
