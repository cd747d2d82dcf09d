import { anyValueTests, deepValueTest } from "../../test/any-value.ts"

anyValueTests(1)
deepValueTest(6)
