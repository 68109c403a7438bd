"""The commands of same_outputs.py: small, so that all of them take minutes with both binaries; later ones read what earlier
ones wrote. A name is its subcommand, a dash and what is special about it.

Every kind of computation is here once: data sets, preparation, training over grids with every recomputation, slabs, replicas,
placed inputs and plans, resuming, prediction, scores, verification, plans for TPUs and for this machine, explain, errors.
"""
import dataclasses, random, shlex


@dataclasses.dataclass
class Command:
    name: str
    words: str
    needs: tuple = ()   # names of commands whose files it reads
    once: bool = False  # run by OLD alone, NEW gets a copy of the files
    by_new: bool = False  # once, but the other way round
    stop_at: str = ""   # SIGTERM as soon as this file is there: by each for itself, and not compared
    ranks: int = 1      # over 1: under mpirun

    @property
    def argv(self):
        return shlex.split(self.words)


UNET = "--base-filters 4 --depth 3"
CROPS = f"{UNET} --crop 16x16x16 --steps 3 --seed 5 --validate-every 2 --checkpoint-every 2 --learning-rate 1e-3"
RETINANET = "--model retinanet --backbone resnet18 --base-filters 8 --pyramid-filters 16"
NARROW = "--base-filters 4 --classes 5"
CLASSES = "--steps 6 --batch 16 --seed 5 --learning-rate 1e-3 --schedule polynomial --checkpoint-every 2"
PICTURES = f"{RETINANET} --steps 2 --batch 2 --crop 128x128 --seed 5 --learning-rate 1e-3 --mirror 0.5 --scale 0.8,1.25"

VOLUME_TRAININGS = {
    "uncut": "--precision f32 --fold 0",
    "1x2x2x2x1": "--partition 1x2x2x2x1 --batch 2 --fold 0",
    "1x4x1x1x1": "--partition 1x4x1x1x1 --precision f32 --loss cross_entropy --optimizer sgd --momentum 0.9 --nesterov --clip-norm 1",
    "1x2x1x1x1-replicas": "--partition 1x2x1x1x1 --replicas 2 --batch 4 --norm-scope replica --recompute norms --weight-decay 1e-2",
    "1x1x2x2x1-nearest": "--partition 1x1x2x2x1 --precision f32 --up nearest --recompute upsampling --loss adaptive_dice32",
    "1x8x1x1x1-slabs": "--partition 1x8x1x1x1 --thinnest-slab 4 --recompute levels --norm instance --activation leaky_relu",
    "2x2x1x1x1-batch": "--partition 2x2x1x1x1 --batch 2 --precision f32 --schedule steps --warmup-steps 1 --flip DH",
    "1x1x1x3x1-whole": "--partition 1x1x1x3x1 --precision f32 --norm none --foreground 0.5 --noise 0.1 --intensity-scale 0.1 --fold all",
    "auto-tpu": "--partition auto --device tpu-v3 --cores 4 --batch 2 --host-memory 1GiB --fold all",
    "auto-host": "--partition auto --device host --cores 4 --precision f32 --fold all",
    "auto-tight": "--partition auto --device tpu-v3 --cores 8 --memory 3MiB --optimizer sgd --precision f32 --fold all",
    "placed": "--config placed.toml --precision f32 --fold all",
    "trace": "--partition 1x2x1x1x1 --precision f32 --fold all --device tpu-v3 --trace train.trace.json",
}
PICTURE_TRAININGS = {
    "uncut": "--precision f32",
    "1x2x2x1": "--partition 1x2x2x1 --recompute norms",
    "1x4x1x1-slabs": "--partition 1x4x1x1 --thinnest-slab 4 --precision f32 --optimizer sgd --momentum 0.9 --weight-decay 1e-4",
    "1x2x1x1-replicas": "--partition 1x2x1x1 --replicas 2 --norm-scope replica --recompute levels --precision f32",
    "auto": "--partition auto --device tpu-v3 --cores 4 --precision f32",
    "auto-host": "--partition auto --device host --cores 4",
}
CLASS_TRAININGS = {
    "uncut": "--precision f32",
    "1x4x1x1": "--partition 1x4x1x1 --precision f32 --label-smoothing 0.1 --balance weights",
    "1x2x2x1-bf16": "--partition 1x2x2x1 --precision bf16",
    "1x2x1x1-replicas": "--partition 1x2x1x1 --replicas 2 --norm-scope replica --precision f32",
    "tpu-config": "--num_cores_per_replica 4 --input_partition_dims '[[1, 4, 1, 1], None]' --precision f32",
    "auto": "--partition auto --device tpu-v3 --cores 4 --precision f32",
}
SMALL = f"--size 16x16x16 {UNET}"
VERIFIED = {
    "1x2x2x2x1": f"{SMALL} --partition 1x2x2x2x1 --precision f32",
    "uneven-bf16": "--size 20x12x28 --base-filters 4 --depth 3 --partition 1x3x1x2x1",
    "replicas": f"{SMALL} --batch 4 --partition 1x2x1x1x1 --replicas 2 --norm-scope replica --recompute levels --precision f32",
    "slabs": f"{SMALL} --partition 1x8x1x1x1 --thinnest-slab 4 --recompute upsampling --up nearest --norm instance",
    "auto": f"{SMALL} --partition auto --device tpu-v3 --cores 4",
    "placed": f"{SMALL} --config placed.toml --precision f32",
    "unet2d": f"--model unet2d --size 32x32 {UNET} --partition 1x2x2x1 --loss cross_entropy",
    "retinanet": f"{RETINANET} --size 128x128 --classes 5 --partition 1x2x2x1 --precision f32",
    "legacy": f"{RETINANET} --variant legacy --size 128x128 --classes 5 --partition 1x4x1x1",
    "digits": "--model digits --size 28x28 --batch 4 --partition 1x4x1x1 --precision f32",
    "resnet50": f"--model resnet50 {NARROW} --size 33x41 --batch 2 --partition 1x2x2x1",
    "resnet3d18": f"--model resnet3d18 {NARROW} --size 5x25x33 --batch 2 --partition 1x2x2x1x1 --precision f32",
    "r2plus1d18": f"--model r2plus1d18 {NARROW} --size 6x25x27 --partition 1x4x1x1x1",
}
REFERENCE = "data/configs/v3-8_128x128x128_ce.toml"
PLANNED = {
    "tpu": f"--size 64x64x64 {UNET} --batch 2 --device tpu-v3 --cores 16 --explain --json",
    "tpu-text": f"--size 64x64x64 {UNET} --batch 2 --device tpu-v2-8 --explain",
    "tpu-tight": "--size 128x128x128 --base-filters 16 --batch 4 --device tpu-v3-32 --memory 300MiB --explain --json",
    "tpu-config": "--size 128x128x128 --device tpu-v3-8 --config reference.toml --explain --json",
    "tpu-fewest": f"--size 32x32x32 {UNET} --device tpu-v3-8 --memory 12MiB --prefer fewest --explain --json",
    "tpu-retinanet": "--model retinanet --size 640x640 --batch 8 --device tpu-v3-8 --explain --json",
    "tpu-unet2d": "--model unet2d --size 256x256 --base-filters 8 --batch 2 --device tpu-v2-8 --explain --json",
    "tpu-digits": "--model digits --size 28x28 --batch 512 --device tpu-v3-8 --explain --json",
    "tpu-resnet50": "--model resnet50 --size 1024x1024 --batch 8 --device tpu-v3-8 --explain --json",
    "process": f"--size 32x32x32 {UNET} --device tpu-v3 --host-memory 200MiB --cores 8 --explain --json",
    "host": f"--size 32x32x32 {UNET} --batch 2 --device host --cores 8 --explain --json",
    "host-tight": f"--size 32x32x32 {UNET} --device host --cores 8 --memory 12MiB --explain --json",
    "host-retinanet": f"{RETINANET} --size 256x256 --batch 2 --device host --cores 4 --explain --json",
    "host-unet2d": f"--model unet2d --size 128x96 {UNET} --device host --cores 8 --explain --json",
}
BENCHED = {
    "tpu-tables": "tpu-tables --json",
    "unet3d": f"step {SMALL} --steps 2 --partition 1x2x2x1x1 --json",
    "unet2d": f"step --model unet2d --size 32x48 {UNET} --steps 2 --partition 1x2x2x1 --precision f32 --json",
    "retinanet": f"step {RETINANET} --size 128x128 --steps 1 --partition 1x2x1x1 --precision f32 --json",
    "digits": "step --model digits --size 28x28 --batch 8 --steps 2 --partition 1x4x1x1 --precision f32 --json",
    "r2plus1d18": f"step --model r2plus1d18 {NARROW} --size 6x25x27 --steps 1 --partition 1x2x2x1x1 --json",
    "kernels": f"kernels {SMALL} --steps 1 --json",
    "trace": f"step {SMALL} --steps 1 --partition 1x2x1x1x1 --device tpu-v3-8 --trace bench.trace.json --json",
}
EXPLAINED_MODELS = {
    "unet3d": f"--size 16x16x16 {UNET}",
    "unet3d-nearest": "--size 24x16x16 --base-filters 4 --depth 2 --up nearest --norm instance --activation leaky_relu --loss dice_ce "
                      "--precision f32 --recompute upsampling",
    "unet2d": f"--model unet2d --size 32x48 {UNET} --loss cross_entropy --norm none",
    "retinanet": f"{RETINANET} --size 128x128 --classes 5",
    "legacy": "--model retinanet --variant legacy --size 128x256 --recompute norms",
    "digits": "--model digits --size 28x28 --batch 4",
    "resnet18": f"--model resnet18 {NARROW} --size 45x37 --batch 2",
    "r2plus1d18": f"--model r2plus1d18 {NARROW} --size 6x25x27",
}
EXPLAINED_CUTS = {  # model: name: a grid and what goes with it
    "unet3d": {"1x2x2x2x1": "1x2x2x2x1", "slabs": "1x8x1x1x1 --thinnest-slab 4 --recompute levels",
               "replicas": "1x2x1x1x1 --replicas 2 --batch 4 --norm-scope replica",
               "auto": "auto --device tpu-v3 --cores 8", "auto-host": "auto --device host --cores 4"},
    "unet3d-nearest": {"uneven": "1x3x1x2x1", "batch": "2x1x2x1x1 --batch 2"},
    "unet2d": {"1x2x3x1": "1x2x3x1"},
    "retinanet": {"1x2x2x1": "1x2x2x1 --recompute norms", "slabs": "1x4x1x1 --thinnest-slab 4",
                  "replicas": "1x2x1x1 --replicas 2 --batch 2 --norm-scope replica", "auto": "auto --device tpu-v3 --cores 4"},
    "legacy": {"1x8x1x1": "1x8x1x1"},
    "digits": {"1x4x1x1": "1x4x1x1", "replicas": "1x2x1x1 --replicas 2 --norm-scope replica"},
    "resnet18": {"1x3x2x1": "1x3x2x1 --recompute norms"},
    "r2plus1d18": {"1x4x1x1x1": "1x4x1x1x1"},
}
REFUSED = {
    "usage": "plan --prefer cheapest --json",
    "missing-input": "info nowhere.nii --json",
    "broken-input": "info broken.nii --json",
    "no-data-set": "prepare nowhere -o nothing --json",
    "unknown-device": "plan --device tpu-v9 --json",
    "partition-rank": f"explain {SMALL} --partition 1x2x2 --json",
    "partition-cores": f"explain {SMALL} --partition 1x2x1x1x1 --cores 3 --json",
    "channels-cut": f"verify {SMALL} --partition 1x1x1x1x2 --json",
    "option-of-another-model": "explain --model retinanet --loss dice_ce --size 128x128 --depth 5 --json",
    "usual-value-of-another-model": f"explain {RETINANET} --size 128x128 --classes 5 --stage graph --depth 4",
    "size": "explain --size 15x16 --json",
    "budget": "bench step --size 32x32x32 --base-filters 4 --depth 3 --memory 1MiB --json",
    "plan-budget": f"plan {SMALL} --device tpu-v3 --cores 2 --memory 1MiB --json",
    "no-grid": f"explain {SMALL} --partition auto --cores 7 --device tpu-v3 --json",
    "tpu-config": f"verify {SMALL} --num_cores_per_replica 4 --json",
    "config-key": "plan --config misspelt.toml --json",
    "help": "train --help",
}


def video(frames=8, side=160):
    """A y4m video: noise with a bright square that wanders."""
    random.seed(1)
    noise = bytes(random.randrange(60, 120) for _ in range(side * side))
    data = f"YUV4MPEG2 W{side} H{side} F25:1 Ip A1:1 C420jpeg\n".encode()
    for frame in range(frames):
        luma = bytearray(noise)
        for row in range(40, 80):
            luma[row * side + 6 * frame:row * side + 6 * frame + 40] = bytes([200]) * 40
        data += b"FRAME\n" + bytes(luma) + bytes([128]) * (side * side // 2)
    return data


def inputs(source):
    """Files that both folders get before the first command: name -> bytes. `source` is the root of the tree."""
    return {"placed.toml": b'input_partition_dims = [[1, 4, 1, 1, 1], "None"]\nnum_cores_per_replica = 4\n',
            "misspelt.toml": b"num_base_filter = 4\n",
            "reference.toml": (source / REFERENCE).read_bytes(),
            "broken.nii": b"not a volume",
            "clip.y4m": video()}


def over_ranks(found, long):
    """Every command whose work ranks share, over 2 and 3 of them."""
    return [Command("prepare-ranks", "prepare volumes -o ranks-work --spacing 8,8,8 --json", ("demo-volumes",), ranks=2),
            Command("prepare-ranks-window", "prepare volumes -o ranks-window --normalise window --clip=-200,300 --json", ("demo-volumes",), ranks=3),
            Command("train-ranks", f"train work -o ranks-run {CROPS} --partition 1x2x2x1x1 --fold 0 --json", ("prepare-coarse",), ranks=2),
            Command("train-ranks-pictures", f"train pictures -o ranks-seen {PICTURES} --partition 1x3x1x1 --precision f32 --json",
                    ("demo-pictures",), ranks=3),
            Command("train-ranks-digits", f"train digits -o ranks-digits --model digits {CLASSES} --partition 1x2x1x1 --replicas 2 --precision f32 --json",
                    ("demo-digits",), ranks=2),
            Command("train-ranks-motions", f"train motions -o ranks-clips --model r2plus1d18 --base-filters 4 --colour grey {CLASSES} "
                    "--partition 1x3x1x1x1 --json", ("demo-motions",), ranks=3),
            Command("train-ranks-stopped", f"train work -o ranks-stopped {long}", ("prepare-coarse",), ranks=2,
                    stop_at="ranks-stopped/checkpoints/last.safetensors"),
            Command("resume-ranks", f"train work -o ranks-stopped {long} --resume --json", ("train-ranks-stopped",), ranks=2),
            Command("predict-ranks", "predict run-uncut volumes/imagesTs -o ranks-pred --partition 1x3x1x1x1 --json", ("train-uncut",), ranks=3),
            Command("predict-ranks-pictures", f"predict seen-long {found} -o ranks-found.json --partition 1x2x2x1 --json",
                    ("train-pictures-long",), ranks=2),
            Command("predict-ranks-video", "predict seen-long clip.y4m -o ranks-seen.json --stride 2 --partition 1x2x1x1 --json",
                    ("train-pictures-long",), ranks=2),
            Command("predict-ranks-digits", "predict digits-uncut digits -o ranks-classes.json --partition 1x4x1x1 --json",
                    ("train-digits-uncut",), ranks=2),
            Command("predict-ranks-motions", "predict clips motions -o ranks-clips.json --json", ("train-motions",), ranks=2),
            Command("evaluate-ranks", "evaluate pred volumes/labelsTs --dataset volumes -o ranks-summary.json --json", ("predict-volumes",), ranks=2),
            Command("evaluate-ranks-pictures", f"evaluate found.json {found} -o ranks-scores.json --json", ("predict-pictures",), ranks=3),
            Command("evaluate-ranks-run", "evaluate run-1x2x2x2x1 work --crop 16x16x16 --json", ("train-1x2x2x2x1",), ranks=2),
            Command("verify-ranks", f"verify {SMALL} --partition 1x2x2x1x1 --precision f32 --json", ranks=2),
            Command("verify-ranks-digits", "verify --model digits --size 28x28 --batch 4 --partition 1x3x1x1 --precision f32 --json", ranks=3)]


def commands():
    """All of them, in the order in which they run."""
    host = ("doctor",)
    all_of = [Command("doctor", "doctor --quick -o host.json", once=True, by_new=True),
              Command("demo-volumes", "demo volumes --cases 3 --test 2 --seed 3 --json"),
              Command("demo-digits", "demo digits --task classification --cases 80 --test 20 --seed 3 --json"),
              Command("info-digits", "info digits --json", ("demo-digits",)),
              Command("demo-pictures", "demo pictures --task detection --cases 4 --test 2 --json"),
              Command("info-volumes", "info volumes volumes/imagesTr/phantom_000_0000.nii.gz", ("demo-volumes",)),
              Command("info-pictures", "info pictures pictures/train/phantom_000.png --json", ("demo-pictures",)),
              Command("info-video", "info clip.y4m --json"),
              Command("prepare-coarse", "prepare volumes -o work --spacing 8,8,8 --json", ("demo-volumes",)),
              Command("prepare-window", "prepare volumes -o window --normalise window --clip=-200,300 --orientation LPS --json", ("demo-volumes",)),
              Command("prepare-again", "prepare volumes -o work --spacing 8,8,8 --resume --json", ("prepare-coarse",))]
    for name, words in VOLUME_TRAININGS.items():
        size = "--crop whole" if name.endswith("whole") else ""
        crops = CROPS.replace("--crop 16x16x16", size) if size else CROPS
        all_of.append(Command(f"train-{name}", f"train work -o run-{name} {crops} {words} --json",
                              ("prepare-coarse", *(host if "host" in name else ()))))
    for name, words in PICTURE_TRAININGS.items():
        all_of.append(Command(f"train-pictures-{name}", f"train pictures -o seen-{name} {PICTURES} {words} --json",
                              ("demo-pictures", *(host if "host" in name else ()))))
    for name, words in CLASS_TRAININGS.items():
        all_of.append(Command(f"train-digits-{name}", f"train digits -o digits-{name} --model digits {CLASSES} {words} --json", ("demo-digits",)))
    all_of.append(Command("train-pictures-long", f"train pictures -o seen-long {RETINANET} --batch 2 --seed 5 --steps 60 --learning-rate 1e-2 "
                          "--precision f32 --clip-norm 10 --norm-momentum 0.9 --warmup-steps 5 --fold all --json",
                          ("demo-pictures",)))  # until it finds something
    long = CROPS.replace("--steps 3", "--steps 60") + " --partition 1x2x2x1x1 --fold all"
    all_of += [Command("train-stopped", f"train work -o stopped {long}", ("prepare-coarse",),
                       stop_at="stopped/checkpoints/last.safetensors"),
               Command("predict-old-checkpoint", "predict run-1x2x2x2x1/checkpoints/step-000002.safetensors volumes/imagesTs -o pred-old --json",
                       ("train-1x2x2x2x1",)),  # not the newest of its run
               Command("resume-stopped", f"train work -o stopped {long} --resume --json", ("train-stopped",)),
               Command("predict-volumes", "predict run-uncut volumes/imagesTs -o pred --json", ("train-uncut",)),
               Command("predict-volumes-cut", "predict run-1x2x2x2x1 volumes/imagesTs -o pred-cut --partition 1x3x1x1x1 --precision f32 "
                       "--checkpoint last --json", ("train-1x2x2x2x1",)),
               Command("predict-volumes-slabs", "predict run-1x8x1x1x1-slabs volumes/imagesTs -o pred-slabs --json", ("train-1x8x1x1x1-slabs",)),
               Command("predict-volumes-resumed", "predict stopped volumes/imagesTs -o pred-resumed --json", ("resume-stopped",)),
               Command("evaluate-volumes", "evaluate pred-resumed volumes/labelsTs --dataset volumes --baseline threshold --png overlay.png "
                       "-o summary.json --json", ("predict-volumes-resumed",)),
               Command("evaluate-volumes-text", "evaluate pred-cut volumes/labelsTs --dataset volumes", ("predict-volumes-cut",))]
    found = "pictures/annotations/instances_train.json"
    all_of += [Command("predict-pictures", f"predict seen-long {found} -o found.json --draw drawn --json", ("train-pictures-long",)),
               Command("predict-pictures-cut", f"predict seen-long {found} -o found-cut.json --partition 1x2x2x1 --precision bf16 --json",
                       ("train-pictures-long",)),
               Command("predict-video", "predict seen-long clip.y4m -o seen.json --coco seen-coco.json --mot seen-mot.txt --draw seen.mp4 "
                       "--stride 2 --track-score 0 --json", ("train-pictures-long",)),
               Command("evaluate-pictures", f"evaluate found.json {found} -o scores.json --curves curves.csv --json", ("predict-pictures",)),
               Command("evaluate-pictures-text", f"evaluate found-cut.json {found}", ("predict-pictures-cut",))]
    all_of += [Command("predict-digits", "predict digits-uncut digits -o classes.json --json", ("train-digits-uncut",)),
               Command("predict-digits-cut", "predict digits-1x4x1x1 digits -o classes-cut.json --partition 1x1x3x1 --checkpoint last --json",
                       ("train-digits-1x4x1x1",)),
               Command("evaluate-digits", "evaluate classes.json digits -o class-scores.json --png confusion.png --top-k 3 --json",
                       ("predict-digits",)),
               Command("evaluate-digits-text", "evaluate classes-cut.json digits", ("predict-digits-cut",))]
    all_of += [Command("demo-motions", "demo motions --task classification --kind motion --cases 18 --test 6 --seed 3 --json", once=True),
               Command("train-motions", f"train motions -o clips --model r2plus1d18 --base-filters 4 --colour grey {CLASSES} --partition 1x2x2x1x1 "
                       "--precision f32 --json", ("demo-motions",)),
               Command("predict-motions", "predict clips motions -o clips.json --json", ("train-motions",)),
               Command("evaluate-motions", "evaluate clips.json motions -o clip-scores.json --json", ("predict-motions",)),
               Command("convert-volumes", "convert volumes -o volume-records --labels index --compression none --json", ("demo-volumes",)),
               Command("convert-volumes-back", "convert volume-records -o volumes-again --json", ("convert-volumes",)),
               Command("convert-pictures", f"convert {found} -o picture-records --files 2 --json", ("demo-pictures",)),
               Command("convert-pictures-back", "convert picture-records -o pictures-again --json", ("convert-pictures",)),
               Command("convert-classes", f"convert {found} -o boxes --to classes --json", ("demo-pictures",)),
               Command("evaluate-run", "evaluate run-1x2x2x2x1 work --crop 16x16x16 -o run-scores.json --json", ("train-1x2x2x2x1",))]
    all_of += over_ranks(found, long)
    all_of += [Command(f"verify-{name}", f"verify {words} --json") for name, words in VERIFIED.items()]
    all_of += [Command("verify-text", f"verify {SMALL} --partition 1x2x1x2x1 --seed 9")]
    all_of += [Command(f"plan-{name}", f"plan {words}", host if "host" in name else ()) for name, words in PLANNED.items()]
    all_of += [Command(f"bench-{name}", f"bench {words}", host) for name, words in BENCHED.items()]
    for model, words in EXPLAINED_MODELS.items():
        all_of += [Command(f"explain-{model}-{stage}", f"explain {words} --stage {stage}") for stage in ("graph", "grad", "program", "memory")]
        for name, cut in EXPLAINED_CUTS[model].items():
            all_of += [Command(f"explain-{model}-{name}-{stage}", f"explain {words} --partition {cut} --stage {stage}",
                               host if "host" in cut else ())
                       for stage in ("grad", "program", "memory") if stage != "grad" or "recompute" in cut]
    return all_of + [Command(f"error-{name}", words) for name, words in REFUSED.items()]
