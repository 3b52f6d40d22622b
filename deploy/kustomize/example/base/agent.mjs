// A stand-in for your agent: it looks up its peer's card through Cardea, once a minute, and says what it found.
const CARD = '.well-known/agent-card.json';
const MINUTE = 60_000;

async function meetPeer(base) {
  const response = await fetch(new URL(CARD, base));
  const body = await response.json();
  if (!response.ok) return `no card: ${body.code}: ${body.detail}`;
  return `${body.name} ${body.version} (${response.headers.get('card-status')})`;
}

// A peer that is away is no reason to fall over: Cardea's problem documents say what to do about it.
const tell = () =>
  meetPeer(process.env.PEER).then(
    (found) => console.log(found),
    (error) => console.log(`Cardea does not answer: ${error.message}`),
  );

await tell();
if (!process.argv.includes('--once')) setInterval(tell, MINUTE);
