/** Rows that another program or a failing disk has changed. */
import { expect, test } from "vitest"
import { connectTo, fill, linesOf, linesTo, newPath, openAt } from "./helpers.ts"

test.each([
  ["a row is missing in the middle", "DELETE FROM batch WHERE seq = 2", 2],
  ["the first row is missing", "DELETE FROM batch WHERE seq = 0", 0],
  ["the last row is missing", "DELETE FROM batch WHERE seq = 4", 4],
  ["a row has a line too many", "UPDATE batch SET body = CAST('a\nb\n' AS BLOB) WHERE seq = 2", 2],
  ["a row has no line feed at its end", "UPDATE batch SET body = CAST('ab' AS BLOB) WHERE seq = 2", 2],
])("if %s, the lines before it can be read, and the rest is `corrupt`", async (_, sql, at) => {
  const path = newPath()
  const storage = openAt(path)
  await fill(storage, "a", 5)
  connectTo(path).exec(sql)
  expect(await linesOf(storage, "a", { to: at })).toEqual(linesTo(at))
  await expect(linesOf(storage, "a")).rejects.toMatchObject({ code: "corrupt" })
  expect(await storage.delete("a")).toMatchObject({ purged: true })
})
