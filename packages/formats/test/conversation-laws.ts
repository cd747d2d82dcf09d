/** The laws of formats that hold a conversation and nothing else, on random sessions. */
import type { ContentBlock, ModelMessage } from "@sessions/core"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { Format } from "../src/base/format.ts"
import { importText, written } from "./laws.ts"
import { ops, sessionOf, shownBlock } from "./random-session.ts"

export interface ConversationLaws {
  /** The messages of a session as a file can hold them. */
  readonly shown?: (messages: readonly ModelMessage[]) => readonly ModelMessage[]
  /** Checks a written document, as the reader of the format does. */
  readonly judge?: (document: unknown) => void | Promise<void>
}

export function testConversations(format: Format, { shown = (all) => all, judge }: ConversationLaws): void {
  test("the context of an imported export is that of the session, repaired", async () => {
    await fc.assert(
      fc.asyncProperty(ops, async (list) => {
        const session = await sessionOf(list)
        const text = await written(format, session)
        await judge?.(JSON.parse(text))
        const expected = (await session.context()).messages.map(({ message }) => message)
        if (expected.length === 0) return
        const again = await importText(format, { text })
        const { messages } = await again.session.context({ repair: "none" })
        expect(messages.map(({ message }) => rowOf(message))).toEqual(shown(expected).map(rowOf))
      }),
      { numRuns: 150 },
    )
  })

  test("a session is written the same each time", async () => {
    await fc.assert(
      fc.asyncProperty(ops, async (list) => {
        const session = await sessionOf(list)
        expect(await written(format, session)).toBe(await written(format, session))
      }),
      { numRuns: 30 },
    )
  })
}

function rowOf(message: ModelMessage): string {
  const { role, content } = message
  const blocks = content.map((block) => shownBlock(block))
  const call = message.role === "toolResult" ? ` ${message.toolCallId}` : ""
  return `${role}${call} ${JSON.stringify(blocks)}`
}

/** The messages without blocks of this type, and without those that had no other. */
export function without(type: ContentBlock["type"]): (messages: readonly ModelMessage[]) => readonly ModelMessage[] {
  return (messages) =>
    messages.flatMap((message) => {
      const content = message.content.filter((block) => block.type !== type)
      return content.length === 0 && message.content.length > 0 ? [] : [{ ...message, content }]
    })
}
