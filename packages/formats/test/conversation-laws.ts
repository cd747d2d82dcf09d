/** The laws of formats that hold a conversation and nothing else, on random sessions. */
import type { ContentBlock, ModelMessage, Session } from "@sessions/core"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { Format } from "../src/base/format.ts"
import { type Golden, importText, seed, written, WRITTEN_RUNS } from "./laws.ts"
import { continued, type Op, ops, sessionOf, shownBlock } from "./random-session.ts"

export interface ConversationLaws {
  /** A file has the whole path instead of the context: compared for sessions that were neither compacted nor edited. */
  readonly isHistory?: boolean
  /** Such a file says where the context begins: sessions that were compacted or edited are compared, too. */
  readonly hasContext?: boolean
  /** The messages of a session as a file can hold them. */
  readonly shown?: (messages: readonly ModelMessage[]) => readonly ModelMessage[]
  /** Checks a written document, as the reader of the format does. */
  readonly judge?: (document: unknown) => void | Promise<void>
}

export function testConversations(
  format: Format,
  goldens: readonly Golden[],
  { isHistory = false, hasContext = false, shown = (all) => all, judge }: ConversationLaws,
): void {
  const isPlain = ({ op }: Op): boolean =>
    !isHistory || hasContext || !["compact", "reset", "edit", "hide", "delete"].includes(op)
  const compared = ops.map((list) => list.filter(isPlain))
  const repair = isHistory ? "none" : "synthesize"
  /** The context of the session, and that of its imported export. */
  const contextsOf = async (session: Session, repairOfFile: "none" | "synthesize"): Promise<[unknown, unknown]> => {
    const text = await written(format, session)
    const { messages: sent } = await session.context({ repair })
    const expected = sent.map(({ message }) => message)
    // A file of system messages alone is of no known format.
    if (shown(expected).every(({ role }) => role === "system")) return [undefined, undefined]
    const again = await importText(format, { text })
    const { messages } = await again.session.context({ repair: repairOfFile })
    return [shown(expected).map(rowOf), shown(messages.map(({ message }) => message)).map(rowOf)]
  }

  test("the context of an imported export is that of the session, and the file is repaired", async () => {
    await fc.assert(
      fc.asyncProperty(compared, async (list) => {
        const [expected, found] = await contextsOf(await sessionOf(list), "none")
        expect(found).toEqual(expected)
      }),
      { numRuns: WRITTEN_RUNS, seed },
    )
  })

  test("the context of an imported export is that of the session, which began in a file", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...goldens), compared, async (golden, list) => {
        const { session } = await importText(format, golden)
        await continued(session, list)
        // A file to which nothing was added is as it was.
        const [expected, found] = await contextsOf(session, repair)
        expect(found).toEqual(expected)
      }),
      { numRuns: WRITTEN_RUNS, seed },
    )
  })

  test("a session is written the same each time, as readers of the format take it", async () => {
    await fc.assert(
      fc.asyncProperty(ops, async (list) => {
        const session = await sessionOf(list)
        const text = await written(format, session)
        expect(await written(format, session)).toBe(text)
        await judge?.(JSON.parse(text))
      }),
      { numRuns: WRITTEN_RUNS, seed },
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
