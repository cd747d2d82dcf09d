/** What each of them is asked for, on the same conversation. */
import type { Message } from "@sessions/core"

export interface Peer {
  readonly name: string
  /** Where it keeps sessions: files are compared with files, memory with memory. */
  readonly kind: "files" | "memory"
  /** Writes a session; what it gives opens it from there until its messages are in hand. */
  readonly open?: (folder: string, conversation: Conversation) => Promise<() => Promise<Opened>>
  /** What it gives appends one message, until the program says that it has it. */
  readonly append?: (folder: string) => Promise<(message: Message) => Promise<unknown>>
  /** Writes sessions, each {@link listedSession}; what it gives lists them all, newest first, as a program does that has just started. */
  readonly list?: (folder: string, count: number) => Promise<() => Promise<Listing>>
}

export interface Opened {
  readonly messages: number
  /** What is done afterwards, and not measured. */
  close?(): unknown
}

/** What a list of sessions shows of each: without them it is no list that a person can choose from. */
export interface Listing {
  readonly rows: number
  /** Of the newest session. */
  readonly firstPrompt: string | undefined
  /** Of the newest session; undefined where the program does not tell. */
  readonly messageCount: number | undefined
  close?(): unknown
}

export interface Conversation {
  /** Made anew each time, so that nobody holds them while something is measured. */
  readonly messages: () => readonly Message[]
  /** So many of the last ones are live behind a compaction; undefined: there is none. */
  readonly kept?: number
}

export const SUMMARY = "## Goal\nKeep going."
