/** Lists as they arrive: in pieces of any size, each of which is looked at once. */
import { expect, test } from "vitest"
import { growthOf, MOST_GROWTH, piecesOf, streamOf } from "../../../core/test/growth-of.ts"
import { readRows } from "./read-rows.ts"
import type { Requests } from "./requests.ts"

const utf8 = new TextEncoder()

function rowsOf(pieces: readonly string[]): AsyncIterable<readonly object[]> {
  const body = streamOf(pieces.map((piece) => utf8.encode(piece)))
  const requests: Requests = {
    stream: async () => new Response(body),
    send: () => Promise.reject(new Error("It is not asked for.")),
    timeout: 60_000,
  }
  return readRows<object>(requests, { path: "/sessions" })
}

async function read(pieces: readonly string[]): Promise<void> {
  for await (const _ of rowsOf(pieces));
}

test("rows are the same in pieces of any size, and nothing follows the last one", async () => {
  const text = '{"id":"a"}\n{"id":"b\u00e9"}\n{"end":true}\n'
  for (let size = 1; size <= text.length; size++) {
    const found: object[] = []
    for await (const rows of rowsOf(piecesOf(text, size))) found.push(...rows)
    expect(found).toEqual([{ id: "a" }, { id: "b\u00e9" }])
  }
  await expect(read([text + text])).rejects.toMatchObject({ code: "unavailable" })
})

test("each piece of a row is looked at once, however long the row is", async () => {
  const pieces = (n: number): readonly string[] => [
    ...piecesOf(`{"id":"${"x".repeat(1_000 * n)}"}\n`, 1_000),
    '{"end":true}\n',
  ]
  expect(await growthOf(750, pieces, read)).toBeLessThan(MOST_GROWTH)
})
