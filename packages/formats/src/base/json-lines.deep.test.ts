/** What reading the lines of a file costs: four times as many, or as long ones, are about four times the work. */
import { expect, test } from "vitest"
import { growthOf, MOST_GROWTH, piecesOf, streamOf, times } from "../../../core/test/growth-of.ts"
import { readLines } from "../../../core/src/format/jsonl.ts"
import { readJsonLines } from "./json-lines.ts"

const FILES: Readonly<Record<string, (n: number) => readonly string[]>> = {
  "lines in one piece": (n) => ['{"a":1}\n'.repeat(n)],
  "a piece for each line": (n) => times(n, () => '{"a":1}\n'),
  "lines in small pieces": (n) => piecesOf('{"a":1}\n'.repeat(n), 3),
  "one line in small pieces": (n) => piecesOf(`{"a":"${"x".repeat(20 * n)}"}\n`, 20),
  "one line in one piece": (n) => [`{"a":"${"x".repeat(100 * n)}"}\n`],
  "a line of lists": (n) => [`{"a":[${times(n, () => "[]").join()}]}\n`],
  "a line of brackets": (n) => [`{"a":${"[".repeat(n)}\n`],
  "a line of keys": (n) => [`{${times(n, (i) => `"k${i}":1`).join()}}\n`],
  "a torn line": (n) => [`{"a":"${"x".repeat(100 * n)}`],
  "lines that are no JSON": (n) => times(n, () => "x\n"),
  "blank lines": (n) => ["\n".repeat(10 * n)],
  "a line of white space": (n) => [`${" ".repeat(100 * n)}\n`],
  "surrogates, each pair in two pieces": (n) => times(n, () => "\ude00{}\n\ud83d"),
  "lone surrogates": (n) => [`"${"\ud800".repeat(n)}"\n`],
}

const READERS = {
  "of agents": async (pieces: readonly string[]): Promise<void> => {
    for await (const _ of readJsonLines(streamOf(pieces), () => undefined));
  },
  "of logs": async (pieces: readonly string[]): Promise<void> => {
    for await (const _ of readLines(pieces));
  },
}

const ALL = Object.entries(READERS).flatMap(([whose, read]) =>
  Object.entries(FILES).map(([name, pieces]) => [`${name}, ${whose}`, pieces, read] as const),
)

test.each(ALL)("%s", async (_, pieces, read) => {
  expect(await growthOf(10_000, pieces, read)).toBeLessThan(MOST_GROWTH)
})
