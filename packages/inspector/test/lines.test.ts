import { expect, test } from "vitest"
import { linesOf, wholeOf } from "../view/lines.ts"

const PARTS = [
  {
    rows: [
      { seq: 1, text: "one" },
      { seq: 2, text: "zwei, größer, 二" },
    ],
  },
  { rows: [{ seq: 4, text: "four" }] },
  { head: "a 5", summary: { leaf: 4 } },
]
const ANSWER = new TextEncoder().encode(PARTS.map((part) => `${JSON.stringify(part)}\n`).join(""))

/** The answer in chunks of some bytes. */
function answer(bytes: Uint8Array<ArrayBuffer>, length: number): Response {
  let start = 0
  return new Response(
    new ReadableStream({
      pull(controller) {
        if (start >= bytes.length) return controller.close()
        controller.enqueue(bytes.slice(start, start + length))
        start += length
      },
    }),
  )
}

test("the rows of an answer are the same wherever its chunks end, also within a character", async () => {
  for (const length of [1, 2, 3, 7, ANSWER.length]) {
    const { rows, head, summary } = await wholeOf(answer(ANSWER, length))
    expect([...rows.keys()]).toEqual([1, 2, 4])
    expect(rows.get(2)?.text).toBe("zwei, größer, 二")
    expect([head, summary]).toEqual(["a 5", { leaf: 4 }])
  }
})

test("an answer that ends early is no shorter session", async () => {
  const early = ANSWER.slice(0, ANSWER.indexOf(10) + 1)
  await expect(wholeOf(answer(early, 8))).rejects.toThrow("a part of the session")
  await expect(wholeOf(answer(ANSWER.slice(0, -1), 8))).rejects.toThrow("a part of the session")
})

test("an answer without a body has no lines", async () => {
  const lines: string[] = []
  for await (const line of linesOf(new Response(null))) lines.push(line)
  expect(lines).toEqual([])
})
