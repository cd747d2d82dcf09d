import { expect, test } from "vitest"
import { isUuid, uuidOf } from "./ids.ts"
import {
  argumentsOf,
  argumentsOfCall,
  dataUrlOf,
  fieldsOf,
  imageOfDataUrl,
  numberOf,
  textBlock,
  textOf,
  timestampOf,
} from "./values.ts"

test("a time is a date text as it is, or milliseconds as ISO 8601; anything else is none", () => {
  expect(timestampOf("2026-07-20T00:00:00Z")).toBe("2026-07-20T00:00:00Z")
  expect(timestampOf(0)).toBe("1970-01-01T00:00:00.000Z")
  for (const value of ["soon", 9e15, Number.NaN, null, {}]) expect(timestampOf(value)).toBeUndefined()
})

test("arguments that are no object are kept as input", () => {
  expect(argumentsOf({ a: 1 })).toEqual({ a: 1 })
  expect(argumentsOf([1])).toEqual({ input: [1] })
  expect(argumentsOf(undefined)).toEqual({ input: null })
  expect(argumentsOfCall('{"a":1}')).toEqual({ a: 1 })
  expect(argumentsOfCall("*** Begin Patch")).toEqual({ input: "*** Begin Patch" })
  expect(argumentsOfCall("7")).toEqual({ input: "7" })
})

test("an image of a data URL has the bytes and the type of the URL", () => {
  const image = { type: "image", mimeType: "image/png", data: "AAAA" } as const
  expect(imageOfDataUrl("data:image/png;base64,AAAA")).toEqual(image)
  expect(dataUrlOf(image)).toBe("data:image/png;base64,AAAA")
  for (const url of ["https://a.test/b.png", "data:text/plain,hi", 7]) expect(imageOfDataUrl(url)).toBeUndefined()
})

test("values of other types count as missing", () => {
  expect([fieldsOf([1]), fieldsOf(null), numberOf("7"), numberOf(Number.NaN), numberOf(7)]).toEqual([
    {},
    {},
    undefined,
    undefined,
    7,
  ])
  expect(textOf([textBlock("a"), { type: "image", mimeType: "image/png", data: "" }, textBlock("b")])).toBe("a\nb")
})

test("a UUID follows from any text, and from a UUID is the same", async () => {
  const id = await uuidOf("01KG9P6JE00000000000000001")
  expect(isUuid(id)).toBe(true)
  expect(id).toBe(await uuidOf("01KG9P6JE00000000000000001"))
  expect(await uuidOf("8a3fcf79-ff1d-56c2-a213-4e8ef612b42a")).toBe("8a3fcf79-ff1d-56c2-a213-4e8ef612b42a")
})
