import { expect, test } from "vitest"
import { assistant, chain, compaction, role, user } from "../../test/chain.ts"
import type { EntrySlot } from "../log/entry-log.ts"
import { type BuildOptions, buildSessionContext } from "./build.ts"
import { shorten } from "./prune/prune.ts"

/** A thousand tokens. */
const FILLER = "-".repeat(4_000)
const call = { type: "toolCall", id: "c", name: "read", arguments: {} }
const asks = { type: "message", message: { role: "assistant", content: [call] } }

function why(
  log: readonly EntrySlot[],
  window: number,
  o: BuildOptions = {},
): readonly [boolean | undefined, unknown[]] {
  const { fits, diagnostics } = buildSessionContext(log, undefined, { ...o, window })
  return [fits, diagnostics.map(({ code, entryId, message }) => [code, entryId, message])]
}

test("a context fits up to the last token of its window; beyond it, a diagnostic names the excess", () => {
  const log = chain(user(FILLER), assistant(FILLER))
  expect(why(log, 2_000)).toEqual([true, []])
  expect(why(log, 1_999)).toEqual([false, [["does_not_fit", undefined, expect.stringMatching(/2000 tokens .* 1999/)]]])
})

test("without a window there is no diagnostic", () => {
  const context = buildSessionContext(chain(user(FILLER)))
  expect(context.diagnostics).toEqual([])
  expect(context).not.toHaveProperty("fits")
})

test("a window smaller than the system prompt is reported as such, because shorter messages cannot help", () => {
  const header = { type: "session", systemPromptOverride: FILLER } as never
  expect(why(chain(user("hi")), 999, { header })).toEqual([
    false,
    [
      [
        "does_not_fit",
        undefined,
        expect.stringMatching(/system prompt alone has about 1000 tokens and the window has 999/),
      ],
    ],
  ])
  expect(why(chain(role("system", { content: FILLER }), user("hi")), 999)[1]).toMatchObject([
    ["does_not_fit", undefined, expect.stringContaining("system prompt alone")],
  ])
  // Tokens are also counted if the context fits.
  expect(buildSessionContext(chain(user("hi")), undefined, { header }).tokens).toBe(1_001)
})

test("a single message larger than the window is named", () => {
  const large = role("toolResult", { toolCallId: "c", isError: false, content: FILLER })
  expect(why(chain(user("hi"), asks, large), 999)[1]).toEqual([
    ["does_not_fit", "e3", expect.stringMatching(/The tool result of entry e3 alone has about 1000 tokens/)],
  ])
  expect(why(chain(user(FILLER)), 999)[1]).toMatchObject([["does_not_fit", "e1", expect.stringMatching(/role user/)]])
  expect(why(chain(compaction("e1", { summary: FILLER })), 999)[1]).toMatchObject([
    ["does_not_fit", "e1", expect.stringMatching(/The summary of entry e1/)],
  ])
})

test("tool results that alone exceed the window are reported as such, and pruning makes them fit", () => {
  const result = role("toolResult", { toolCallId: "c", isError: false, content: FILLER.repeat(2) })
  const rounds = [asks, result, asks, result, asks, result]
  const log = chain(user("hi"), ...rounds, assistant("a"), assistant("b"), assistant("c"))
  const [fits, diagnostics] = why(log, 3_000)
  expect([fits, diagnostics]).toEqual([
    false,
    expect.arrayContaining([
      ["does_not_fit", undefined, expect.stringMatching(/its tool results alone have about 6000/)],
    ]),
  ])
  const pruned = buildSessionContext(log, undefined, { window: 3_000, shorten: shorten() })
  expect(pruned.fits).toBe(true)
  expect(pruned.pruned).toHaveLength(3)
  // Only the caller can give up content that pruning leaves alone.
  const newest = chain(user("hi"), ...rounds)
  expect(why(newest, 3_000, { shorten: shorten() })).toEqual([
    false,
    expect.arrayContaining([
      ["does_not_fit", undefined, expect.stringMatching(/All but the newest tool results .* are shortened already/)],
    ]),
  ])
  expect(why(newest, 3_000, { shorten: shorten({ keepAssistantMessages: 0 }) })[0]).toBe(true)
})

test("a window that is not a number of tokens is rejected", () => {
  for (const window of [0, -1, Number.NaN, "5", null])
    expect(() => buildSessionContext(chain(), undefined, { window: window as never })).toThrow(
      expect.objectContaining({ code: "invalid" }),
    )
})
