import fc from "fast-check";
import { expect, test } from "vitest";
import { compareUtf8 } from "../../src/envelope/utf8-order.js";

test("WO-GEN-19 texts are in the order of their UTF-8 bytes, beyond the basic plane as well", () => {
  const text = fc.string({ unit: "binary" });
  const near = fc.constantFrom("a", "\u{1f600}", "\uffff", "\ud7ff", "\ue000");
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        fc.array(near).map((units) => units.join("")),
      ),
      fc.oneof(text, near),
      (left, right) => {
        expect(Math.sign(compareUtf8(left, right))).toBe(Buffer.compare(Buffer.from(left), Buffer.from(right)));
      },
    ),
  );
});
