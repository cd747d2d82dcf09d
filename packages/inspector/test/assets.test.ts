import { readFileSync } from "node:fs"
import { expect, test } from "vitest"

test("the script and style in use are those of the view; pnpm build:inspector makes them", async () => {
  const { assets, file } = (await import(new URL("../build.mjs", import.meta.url).href)) as {
    assets: () => Promise<string>
    file: string
  }
  expect(readFileSync(file, "utf8") === (await assets())).toBe(true)
})
