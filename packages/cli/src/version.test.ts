import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { createCli } from "../test/harness.ts"
import { VERSION } from "./version.ts"

test("the version is the manifest's", async () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
  expect(VERSION).toBe(manifest.version)
  expect(await createCli()("--version")).toEqual({ exit: 0, stdout: `${VERSION}\n`, stderr: "" })
})
