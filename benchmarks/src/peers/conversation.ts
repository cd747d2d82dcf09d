/** The conversations that every program gets. */
import type { Message } from "@sessions/core"
import { turn } from "../data.ts"
import type { Conversation } from "./peer.ts"

/** A conversation of about `bytes` bytes as JSON. */
export function conversation(bytes: number, kept: number | undefined): Conversation {
  const messages = (): readonly Message[] => {
    const all: Message[] = []
    for (let size = 0, index = 0; size < bytes; index++) {
      for (const message of messagesOf(index)) {
        all.push(message)
        size += JSON.stringify(message).length
      }
    }
    return all
  }
  return kept === undefined ? { messages } : { messages, kept }
}

const LISTED_TURNS = 8
export const LISTED_MESSAGES: number = 2 + 4 * LISTED_TURNS

/** A session for the list: about 50 KB with a first prompt of its own. */
export function listedSession(index: number): readonly Message[] {
  return [
    { role: "user", content: [{ type: "text", text: `Hello ${index}` }] },
    { role: "assistant", content: [{ type: "text", text: "Hello." }] },
    ...Array.from({ length: LISTED_TURNS }, (_, turns) => messagesOf(index + turns)).flat(),
  ]
}

/** The messages of one turn, in the form that all programs take. */
export function messagesOf(index: number): readonly Message[] {
  return turn(index).map((entry) => {
    const { message } = entry as unknown as { message: Message & { content: unknown } }
    const { content } = message
    return typeof content === "string" ? { ...message, content: [{ type: "text", text: content }] } : message
  })
}
