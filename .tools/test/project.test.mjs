import { expect, test } from "vitest"
import { fieldsOf, missingOf, withFields } from "../lib/project.mjs"

const EMPTY = { repository: "", homepage: "", bugs: "" }
const KNOWN = {
  repository: "https://git.example/acme/sessions",
  homepage: "https://sessions.example/docs",
  bugs: "https://git.example/acme/sessions/issues",
}

test("a release is refused while an address is empty or no address", () => {
  expect(missingOf(EMPTY)).toEqual(["repository is empty", "homepage is empty", "bugs is empty"])
  expect(missingOf({ ...KNOWN, repository: "git@git.example:acme/sessions.git" })).toHaveLength(1)
  expect(missingOf({ ...KNOWN, repository: `${KNOWN.repository}.git` })).toHaveLength(1)
  expect(missingOf(KNOWN)).toEqual([])
})

test("a manifest has the addresses behind its description, and its folder in the repository", () => {
  const manifest = {
    name: "a",
    version: "1.0.0",
    description: "An a",
    license: "MIT",
    homepage: "https://old.example/a",
  }
  const written = withFields(manifest, fieldsOf(KNOWN, "packages/a"))
  expect(Object.keys(written)).toEqual(["name", "version", "description", "repository", "homepage", "bugs", "license"])
  expect(written).toMatchObject({
    repository: { type: "git", url: "git+https://git.example/acme/sessions.git", directory: "packages/a" },
    homepage: KNOWN.homepage,
    bugs: { url: KNOWN.bugs },
  })
  expect(withFields(written, fieldsOf(EMPTY, "packages/a"))).toEqual({ ...manifest, homepage: undefined })
})
