/** Whatever JSON value a stored record has: every call answers, or rejects with a coded error. */
import { expect, test } from "vitest"
import { damaged, deepValueTest, defectsOf, withValue } from "../../test/any-value.ts"

const VALUES: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  null: null,
  "a negative number": -1,
  "a fraction": 1e300,
  "an empty string": "",
  "a string": "\u001b]52;\ud800",
  "a list": [null, 5, {}],
  "an object that has no text": { toString: 1, valueOf: 1, toJSON: 1, length: -1 },
}

for (const version of [4, 3, 1] as const) {
  for (const [name, value] of Object.entries(VALUES)) {
    test(`version ${version}: ${name} in any place of a log makes no call fail without a code`, async () => {
      for (const lines of damaged(version, (record, path) => JSON.stringify(withValue(record, path, value)))) {
        expect(await defectsOf(lines), lines.join("\n")).toEqual([])
      }
    })
  }
}

deepValueTest(48)
