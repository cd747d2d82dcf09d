/** Whatever JSON value a stored record has: every call answers, or rejects with a coded error. */
import { anyValueTests, deepValueTest } from "../../test/any-value.ts"

anyValueTests(4)
deepValueTest(48)
