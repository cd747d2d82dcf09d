/** The operations that are compared between programs. */
import type { Message } from "@sessions/core"

export interface Peer {
  readonly name: string
  /** Where it keeps sessions. Files are compared with files, memory with memory. */
  readonly kind: "files" | "memory"
  /** Writes a session; the returned function opens it and ends when its messages are available. */
  readonly open?: (folder: string, conversation: Conversation) => Promise<() => Promise<Opened>>
  /** The returned function appends one message and ends when the program acknowledges it. */
  readonly append?: (folder: string) => Promise<(message: Message) => Promise<unknown>>
  /** Writes sessions, each a {@link listedSession}; the returned function lists all of them, newest first, with cold caches. */
  readonly list?: (folder: string, count: number) => Promise<() => Promise<Listing>>
}

export interface Opened {
  readonly messages: number
  /** Cleans up; not measured. */
  close?(): unknown
}

/** The result of a list, with the fields that a person needs to choose a session. */
export interface Listing {
  readonly rows: number
  /** Of the newest session. */
  readonly firstPrompt: string | undefined
  /** Of the newest session; undefined if the program does not return it. */
  readonly messageCount: number | undefined
  close?(): unknown
}

export interface Conversation {
  /** New objects at each call, so that nothing keeps them in memory during a measurement. */
  readonly messages: () => readonly Message[]
  /** The number of last messages that a compaction keeps; undefined without a compaction. */
  readonly kept?: number
}

export const SUMMARY = "## Goal\nKeep going."
