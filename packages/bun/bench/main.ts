/** `bun --conditions=@sessions/source packages/bun/bench/main.ts [read|append|hash] [--rounds N] [--cpu] [--in FOLDER]`: what Bun's own calls gain through the contract. */
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { appendGroups } from "./append.ts"
import { hashGroups } from "./hash.ts"
import { readGroups } from "./read.ts"
import { type Group, measure, serve } from "./report.ts"

const kinds: Readonly<Record<string, readonly Group[]>> = { read: readGroups, append: appendGroups, hash: hashGroups }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "15" },
    // In memory where the system has such a place: what is measured is not the disk.
    in: { type: "string", default: existsSync("/dev/shm") ? "/dev/shm" : tmpdir() },
    cpu: { type: "boolean", default: false },
    serve: { type: "boolean", default: false },
  },
})

if (values.serve) {
  const [title, name, root = ""] = positionals
  const group = Object.values(kinds)
    .flat()
    .find((group) => group.title === title)
  const way = group?.ways(root).find((way) => way.name === name)
  if (way !== undefined) serve(way, values.cpu)
} else {
  const groups = Object.entries(kinds).flatMap(([kind, all]) =>
    positionals.length === 0 || positionals.includes(kind) ? all : [],
  )
  const o = {
    program: fileURLToPath(import.meta.url),
    rounds: Number(values.rounds),
    folder: values.in,
    cpu: values.cpu,
  }
  for (const group of groups) process.stdout.write(`${await measure(group, o)}\n`)
}
