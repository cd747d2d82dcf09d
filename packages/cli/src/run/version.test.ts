import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"

test("--version prints the version of package.json", async () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string
  }
  expect(await createCli()("--version")).toEqual({ exit: 0, stdout: `${manifest.version}\n`, stderr: "" })
})
