import { realpathSync } from "node:fs"
import { tmpdir } from "node:os"
import { expect, test } from "vitest"
import { runAgent } from "./run-agent.ts"

/** A program in place of an agent's. */
const fake = (source: string, ...args: readonly string[]): Promise<string> =>
  runAgent({
    name: "Fake",
    program: process.execPath,
    args: ["-e", source, ...args],
    cwd: realpathSync(tmpdir()),
    env: { HOME: "/nowhere" },
  })

test("a judge gets its arguments, folder and environment, and what it prints on standard output is returned", async () => {
  const source = `console.error("aside"); console.log(JSON.stringify([process.argv.at(-1), process.cwd(), Object.keys(process.env).sort()]))`
  const [argument, folder, names] = JSON.parse(await fake(source, "NEXT")) as [string, string, string[]]
  expect([argument, folder]).toEqual(["NEXT", realpathSync(tmpdir())])
  expect(names).toEqual(expect.arrayContaining(["HOME", "PATH"]))
  expect(names).not.toContain("VITEST")
})

test("a judge that fails rejects with its name and all that it has printed; one that is not there rejects", async () => {
  const failed = fake(`console.log("out"); console.error("err"); process.exitCode = 3`)
  await expect(failed).rejects.toThrow(/^Fake ended with 3: (?:out\nerr|err\nout)\n$/)
  const absent = runAgent({ name: "Fake", program: "/no/such/program", args: [], cwd: tmpdir(), env: {} })
  await expect(absent).rejects.toMatchObject({ code: "ENOENT" })
})
