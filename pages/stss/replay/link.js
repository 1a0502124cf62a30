// Carries what Python says to the town, and back what the address is to keep and which conversation is to be read.
export default function ({ data, setStateValue, setTriggerValue }) {
  const bus = (globalThis.concordTown ??= {});
  bus.send = (shown) => setStateValue("shown", shown);
  bus.talk = (number) => setTriggerValue("talk", number);
  bus.news = data;
  bus.receive?.(data);
}
